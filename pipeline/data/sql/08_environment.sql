-- One row is one snapshot of one submission's machine around the campaign.
create table environment as
with listed as (
  select
    submission,
    unnest(document.environment) as snapshot,
    generate_subscripts(document.environment, 1) as position
  from submission_document
)
select submission, position, snapshot.*
from listed
order by submission, position;
