-- One row is one task of one device, or of one target (`$place` names which), with its fastest
-- measured cell; the fastest task comes first.
select *
from cell
where tier = 'measured' and speedup is not null and task <> 'all'
qualify row_number() over (
  partition by if($place = 'device', device, target), task order by speedup desc, cell desc
) = 1
order by speedup desc, cell desc;
