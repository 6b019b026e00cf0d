-- One row is the cost of a round at one depth of one pair on one device: R, in tokens of the
-- baseline. R comes from arms that draft in every round, with real or forced acceptance.
-- Over several people, R is the median of each person's median; if any people are known,
-- only theirs count.
create table round_cost as
with measured as (
  select
    *,
    concat_ws(' · ', target_label || ' ' || quantisation, method_label, draft_label, backend)
      as line_label,
    median(round_cost) over person as cost_of_person,
    median(tokens_per_round) over person as tokens_of_person,
    row_number() over person = 1 as is_vote
  from evidence
  where counted and tier = 'measured' and task in ('all', 'own') and outcome = 'ok'
    and concurrency = 1 and conditions is null and depth > 0 and round_cost > 0
    and (role = 'speculation' or method = 'forced') and drafts_always(method)
  window person as (
    partition by device, backend, target, quantisation, method, method_label, draft_label, depth,
      account_of(contributor)
  )
  qualify known or not bool_or(known) over (
    partition by device, backend, target, quantisation, method, method_label, draft_label, depth
  )
)
select
  device,
  any_value(device_label order by submission) as device_label,
  backend,
  target,
  any_value(target_label order by submission) as target_label,
  quantisation,
  method,
  method_label,
  draft_label,
  any_value(line_label order by submission) as line_label,
  depth,
  median(cost_of_person) filter (is_vote) as round_cost,
  median(tokens_of_person) filter (is_vote) as tokens_per_round,
  count(*) as results,
  arg_max(submission, (measured_from, submission)) as submission
from measured
group by device, backend, target, quantisation, method, method_label, draft_label, depth
order by device, line_label, depth;
