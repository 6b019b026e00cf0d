-- One row is one thing that a reader should know before trusting a submission's figures.
create table flag as
with listed as (
  select submission, unnest(summary.flags) as flag
  from submission_document
)
select submission, flag.name as flag, flag.* exclude (name)
from listed
order by submission, listed.flag.name, listed.flag.arm nulls first, listed.flag.prompt nulls first, listed.flag.message;
