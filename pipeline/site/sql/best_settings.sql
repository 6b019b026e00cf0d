-- One row is one task of one device, or of one target (`$place` names which), with the best cell of
-- the best tier that it has: measured ones first, then what clearly helps, then the higher lower bound
-- of the interval. A cell that never drafted is no setting to recommend.
select *
from cell
where speedup is not null and task <> 'all' and verdict <> 'never-drafted' and conditions is null
qualify row_number() over (
  partition by if($place = 'device', device, target), task
  order by tier = 'measured' desc, verdict = 'helps' desc, interval_low desc nulls last, speedup desc, cell desc
) = 1
order by tier = 'measured' desc, verdict = 'helps' desc, interval_low desc nulls last, speedup desc, cell desc;
