-- One row is one task of one device, or of one target (`$place` names which), with the fastest cell of
-- the best tier that it has: measured ones first, and of those the fastest task.
select *
from cell
where speedup is not null and task <> 'all'
qualify row_number() over (
  partition by if($place = 'device', device, target), task
  order by tier = 'measured' desc, speedup desc, cell desc
) = 1
order by tier = 'measured' desc, speedup desc, cell desc;
