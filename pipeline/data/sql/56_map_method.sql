-- One row is one square of the map for one method: device × size class × backend × task × tier ×
-- method, with the best cell of that method in it (highest speedup of those that support a verdict;
-- its lower bound allows for the choice), for one request at a time.
create table map_method as
with single as (
  select * from cell where concurrency = 1 and conditions is null
),
squares as (
  select
    device, size_class, backend, task, tier, method,
    count(*) as cells,
    count(*) filter (verdict = 'helps') as helping_cells,
    count(*) filter (verdict = 'hurts') as losing_cells,
    count(*) filter (speedup is null) as failed_cells
  from single
  group by device, size_class, backend, task, tier, method
),
best as (
  select
    *,
    greatest(1, count(*) filter (is_firm(verdict)) over (
      partition by device, size_class, backend, task, tier, method
    )) as choices
  from single
  qualify row_number() over (
    partition by device, size_class, backend, task, tier, method
    order by is_firm(verdict) desc, speedup desc nulls last, cell
  ) = 1
)
select
  best.device,
  best.size_class,
  best.backend,
  best.task,
  best.tier,
  best.method,
  best.device_label,
  best.device_kind,
  best.vram_gib,
  best.size_order,
  best.method_label,
  squares.cells,
  squares.helping_cells,
  squares.losing_cells,
  squares.failed_cells,
  best.speedup,
  chosen_low(best.speedup, best.interval_low, best.choices) as interval_low,
  best.interval_high,
  if(
    best.speedup is null,
    null,
    chosen_verdict(best.verdict, best.speedup, best.interval_low, best.interval_high, choices)
  ) as verdict,
  if(
    best.speedup is null,
    null,
    mark_of(
      chosen_verdict(best.verdict, best.speedup, best.interval_low, best.interval_high, choices),
      best.confirmed
    )
  ) as mark,
  best.depth,
  best.target_label,
  best.submissions,
  best.rigs
from best
join squares using (device, size_class, backend, task, tier, method)
order by tier, task, device, backend, size_order, method;
