-- One row is one draft model's measured cost per drafted token in one submission.
create table drafting_cost as
with listed as (
  select submission, unnest(document.probes.drafting) as cost
  from submission_document
)
select submission, cost.draft as draft, cost.repeats, cost.token_ms_median as draft_token_ms
from listed
order by submission, draft;
