-- One row is one device with how many of its measured cells of single tasks help and hurt.
select device.*, coalesce(cells, 0) as cells, coalesce(helps, 0) as helps, coalesce(hurts, 0) as hurts,
  tiers
from device
left join (
  select
    device,
    count(*) as cells,
    count(*) filter (verdict = 'helps') as helps,
    count(*) filter (verdict = 'hurts') as hurts
  from cell
  where tier = 'measured' and task <> 'all'
  group by device
) using (device)
left join (
  select device, list(distinct tier order by tier desc) as tiers from setup where counted group by device
) using (device)
order by device;
