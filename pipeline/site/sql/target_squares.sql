-- One row is one square of a target's map: target × device × backend × task, with the best setting of
-- the best tier that it has: what clearly helps first, then what has a verdict, then the higher
-- figure. Its interval and verdict allow for having been chosen as the best of several. Where nobody
-- measured, here or with another tool, it is the highest ratio that others print.
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
),
known as (
  select
    target, device, device_label, device_kind, vram_gib, backend, task, tier, speedup, cells,
    if(speedup is null, null, interval_low) as interval_low,
    interval_high, verdict, mark_of(verdict, confirmed) as mark,
    method_label, depth, target_label, false as differs
  from judged
),
printed as (
  select *, coalesce(task, 'all') as square_task, count(*) over square as cells
  from published_pair
  where speedup is not null and len(coalesce(also_differs, [])) = 0
  window square as (partition by target, device, backend, coalesce(task, 'all'))
  qualify row_number() over (square order by speedup desc, source, position) = 1
)
select * from known
union all
select
  target, device, device_label, device_kind, vram_gib, backend, square_task, tier, speedup, cells,
  null, null, null, null, method_label, depth, target_label, false
from printed
anti join known
  on (known.target, known.device, known.backend, known.task)
    = (printed.target, printed.device, printed.backend, printed.square_task)
order by target, device, backend, task_order(task);
