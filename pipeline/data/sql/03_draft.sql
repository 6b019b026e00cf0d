-- One row is one draft model of one submission.
create table draft as
with listed as (
  select
    submission,
    unnest(document.drafts) as draft
  from submission_document
)
select
  submission,
  draft.id as draft,
  draft.name as draft_name,
  draft.* exclude (id, name)
from listed
order by submission, draft;
