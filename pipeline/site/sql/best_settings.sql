-- One row is one task of one device, or of one target (`$place` names which), with the best cell of
-- the best tier that it has, chosen as on the maps: measured ones first, then what clearly helps, then
-- what has a verdict, then the higher figure. The tasks come by their lower bounds. A cell that never
-- drafted is no setting to recommend.
select *
from cell
where speedup is not null and task <> 'all' and verdict <> 'never-drafted' and conditions is null
  and concurrency = 1
qualify row_number() over (
  partition by if($place = 'device', device, target), task
  order by tier = 'measured' desc, verdict = 'helps' desc, is_firm(verdict) desc, speedup desc, cell
) = 1
order by tier = 'measured' desc, verdict = 'helps' desc, interval_low desc nulls last, speedup desc, cell desc;
