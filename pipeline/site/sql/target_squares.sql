-- One row is one square of a target's map: target × device × backend × task, with the best setting of
-- the best tier that it has: what clearly helps first, then the higher figure.
with figures as (
  select * replace (if(verdict = 'never-drafted', null, speedup) as speedup)
  from cell
  where concurrency = 1
)
select
  target, device, device_label, device_kind, vram_gib, backend, task, tier, speedup,
  interval_low, interval_high, if(speedup is null, null, verdict) as verdict, method_label, depth,
  target_label,
  count(*) over (partition by target, device, backend, task, tier) as cells
from figures
qualify row_number() over (
  partition by target, device, backend, task
  order by tier = 'measured' desc, verdict = 'helps' desc, speedup desc nulls last, cell
) = 1
order by target, device, backend, task_order(task);
