-- One row is one target model with how many of its measured cells of single tasks help and hurt.
select
  target.*,
  len(target.devices) as device_count,
  coalesce(parameters_label, size_class) as size_label,
  coalesce(cells, 0) as cells,
  coalesce(helps, 0) as helps,
  coalesce(hurts, 0) as hurts,
  tiers
from target
left join (
  select
    target,
    count(*) as cells,
    count(*) filter (verdict = 'helps') as helps,
    count(*) filter (verdict = 'hurts') as hurts
  from cell
  where tier = 'measured' and task <> 'all'
  group by target
) using (target)
left join (
  select target, list(distinct tier order by tier desc) as tiers from setup where counted group by target
) using (target)
order by target;
