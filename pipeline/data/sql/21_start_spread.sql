-- One row is the variation of one arm's ratio between starts in one submission.
create table start_spread as
with listed as (
  select submission, unnest(summary.repeatability) as each
  from submission_document
)
select submission, each.arm, each.starts as spread_of_starts
from listed
order by submission, each.arm;
