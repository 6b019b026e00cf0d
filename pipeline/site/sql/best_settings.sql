-- One row is one task of one device, or of one target (`$place` names which), with its best setting as
-- the table `best` has it, of the best tier that it has. The tasks come by their lower bounds.
select *
from best
where place = $place || '-task' and task <> 'all' and tier_order = 1
order by tier = 'measured' desc, verdict = 'helps' desc, interval_low desc nulls last, speedup desc, candidate desc;
