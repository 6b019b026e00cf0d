-- One row is one square of a target's map: target × device × backend × task, with the best setting of
-- the best tier that it has: what clearly helps first, then what has a verdict, then the higher
-- figure. Its interval and verdict allow for having been chosen as the best of several.
with figures as (
  select * replace (if(verdict = 'never-drafted', null, speedup) as speedup)
  from cell
  where concurrency = 1 and conditions is null
),
counted as (
  select
    *,
    count(*) over square as cells,
    count(speedup) over square as choices
  from figures
  window square as (partition by target, device, backend, task, tier)
),
best as (
  select *
  from counted
  qualify row_number() over (
    partition by target, device, backend, task
    order by tier = 'measured' desc, verdict = 'helps' desc,
      (is_firm(verdict) and speedup is not null) desc, speedup desc nulls last, cell
  ) = 1
),
bounded as (
  select * replace (chosen_low(speedup, interval_low, choices) as interval_low) from best
),
judged as (
  select
    * replace (
      if(
        speedup is null, null, chosen_verdict(verdict, interval_low, interval_high)
      ) as verdict
    )
  from bounded
)
select
  target, device, device_label, device_kind, vram_gib, backend, task, tier, speedup, cells,
  if(speedup is null, null, interval_low) as interval_low,
  interval_high, verdict, mark_of(verdict, confirmed) as mark,
  method_label, depth, target_label
from judged
order by target, device, backend, task_order(task);
