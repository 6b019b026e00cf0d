-- One row is one task of one device, or of one target (`$kind` names which), with its best setting
-- as the table `best` has it, of the best tier that it has. Tasks with a clear gain
-- come first, by their lower bounds; the others have no rank and come in the order of the tasks.
select *
from best
where place = $kind || '-task' and task <> 'all' and tier_order = 1
order by
  backing, tier = 'measured' desc, verdict = 'helps' desc,
  if(verdict = 'helps', interval_low, null) desc, task_order(task), candidate desc;
