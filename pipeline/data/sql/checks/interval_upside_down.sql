-- One row is one interval whose lower end is above its upper end, or that has
-- only one end.
with intervals as (
  select pool as subject, interval_low, interval_high from pool
  union all
  select submission || ' ' || arm, interval_low, interval_high from estimate
)
select *
from intervals
where interval_low > interval_high or (interval_low is null) <> (interval_high is null);
