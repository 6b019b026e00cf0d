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
),
bounded as (
  select * replace (chosen_low(speedup, interval_low, choices) as interval_low)
  from best
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
  best.interval_low,
  best.interval_high,
  best.verdict,
  mark_of(best.verdict, best.confirmed) as mark,
  best.depth,
  best.target_label,
  best.submissions,
  best.rigs
from judged as best
join squares using (device, size_class, backend, task, tier, method)
order by tier, task, device, backend, size_order, method;
