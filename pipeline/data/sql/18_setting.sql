-- One row is how one arm of one submission is named, wherever it ran: its method, depth and draft.
create table setting as
with listed as (
  select submission, unnest(identity.settings) as named
  from submission_document
)
select submission, named.arm, named.setting, named.draft, named.draft_label
from listed
order by submission, named.arm;
