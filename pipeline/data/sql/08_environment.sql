-- One row is one snapshot of one submission's machine around the campaign.
create table environment as
select
  submission,
  generate_subscripts(document.environment, 1) as position,
  unnest(document.environment, max_depth := 2)
from submission_document
order by submission, position;
