-- One row is one submission whose trials were lost or multiplied on the way into their table.
with expected as (
  select submission, len(document.trials) as trials
  from submission_document
),
loaded as (
  select submission, count(*) as trials from trial group by submission
)
select submission, expected.trials, loaded.trials as loaded_trials
from expected
left join loaded using (submission)
where loaded.trials is distinct from expected.trials;
