-- One row is one submission whose trials were lost or duplicated on the way
-- into their table.
with loaded as (
  select submission, count(*) as trials from trial group by submission
)
select submission, trial_count, loaded.trials as loaded_trials
from submission_document
left join loaded using (submission)
where loaded.trials is distinct from trial_count;
