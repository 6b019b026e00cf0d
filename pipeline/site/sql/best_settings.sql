-- One row is one task of one device, or of one target (`$place` names which), with the fastest cell of
-- the best tier that it has: measured ones first, then what clearly helps, then the higher figure. A
-- cell that never drafted is no setting to recommend.
select *
from cell
where speedup is not null and task <> 'all' and verdict <> 'never-drafted' and conditions is null
qualify row_number() over (
  partition by if($place = 'device', device, target), task
  order by tier = 'measured' desc, verdict = 'helps' desc, speedup desc, cell desc
) = 1
order by tier = 'measured' desc, verdict = 'helps' desc, speedup desc, cell desc;
