-- One row is one thing that a reader should know before trusting a submission's figures.
-- `position` is the order in which to read them: the serious ones first.
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
