-- One row is the comparison of one arm's outputs with the baseline's, over a submission's prompts.
create table exactness as
select
  submission,
  tier,
  device,
  device_label,
  backend,
  target,
  target_label,
  quantisation,
  arm,
  role,
  method,
  method_label,
  depth,
  identical,
  diverged_near_tie,
  diverged,
  not_compared,
  identical / nullif(identical + diverged_near_tie + diverged, 0) as identical_share
from evidence
where counted and task = 'all' and identical is not null
order by submission, arm;
