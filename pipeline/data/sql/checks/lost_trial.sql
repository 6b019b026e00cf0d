-- One row is one submission whose trials were lost or duplicated on the way
-- into their table.
with found as (
  select submission, count(*) as trials from trial group by submission
)
select submission, loaded.trials, found.trials as found_trials
from loaded
left join found using (submission)
where found.trials is distinct from loaded.trials;
