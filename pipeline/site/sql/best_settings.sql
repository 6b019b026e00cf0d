-- One row is one task of one device, or of one target (by `$kind`), with its best setting from the
-- table `best`, in the task's best tier. Tasks with a clear gain come first, by their lower
-- bounds. The other tasks have no rank and follow in the order of the tasks.
select *
from best
where place = $kind || '-task' and task <> 'all' and tier_order = 1
order by
  backing, tier = 'measured' desc, verdict = 'helps' desc,
  if(verdict = 'helps', interval_low, null) desc, task_order(task), candidate desc;
