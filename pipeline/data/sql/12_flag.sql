-- One row is one fact to know before trusting a submission's figures. `position` is the reading
-- order: serious facts first.
create table flag as
with listed as (
  select
    submission,
    unnest(summary.flags) as flag,
    generate_subscripts(summary.flags, 1) as position
  from submission_document
)
select submission, position, flag.name as flag, flag.* exclude (name)
from listed
order by submission, position;
