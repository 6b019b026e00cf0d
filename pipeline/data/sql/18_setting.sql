-- One row is the name of one arm of one submission on any machine: its method, depth and draft.
create table setting as
with listed as (
  select submission, unnest(identity.settings) as named
  from submission_document
)
select submission, named.arm, named.setting, named.draft, named.draft_label
from listed
order by submission, named.arm;
