-- One row is the default strip of a combination of device and model, in its best tier: over all
-- tasks, backends and methods, and under usual conditions.
select *
from strip
where selection = 0 and task = 'all' and condition is null and tier_order = 1
order by rowid;
