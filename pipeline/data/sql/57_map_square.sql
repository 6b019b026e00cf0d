-- One row is one square of the home page's map: device × size class × backend × task × choice (a
-- method, or 'all' for the best of all), from the best tier that it has: measured, else imported,
-- else published. Tiers never meet in a square. Over all tasks an imported square is over its
-- suite's own prompts, a published one over whatever its source took. `mark` is what is printed of
-- the verdict.
create table map_square as
with foreign_rows as (
  select
    device, size_class, backend, 'all' as task, tier, device_label, device_kind, vram_gib,
    size_order, method, method_label, depth, target_label, speedup, interval_low, interval_high,
    verdict, submission
  from evidence
  where task = 'own' and role = 'speculation' and counted and concurrency = 1
    and speedup is not null and verdict <> 'never-drafted'
  union all
  select
    device, size_class, backend, coalesce(task, 'all'), tier, device_label, device_kind, vram_gib,
    size_order, method, method_label, depth, target_label, speedup, null, null, null, source
  from published_pair
),
chosen as (
  select 'all' as choice, * from foreign_rows
  union all
  select method as choice, * from foreign_rows
),
best as (
  select
    choice, device, size_class, backend, task, tier, device_label, device_kind, vram_gib,
    size_order,
    greatest(1, count(*) filter (is_firm(verdict)) over square) as choices,
    count(*) over square as cells,
    count(*) filter (verdict = 'helps') over square as helping_cells,
    count(*) filter (verdict = 'hurts') over square as losing_cells,
    0 as failed_cells,
    speedup, interval_low, interval_high, verdict, method_label, depth, target_label,
    null as submissions,
    null as rigs
  from chosen
  window square as (partition by choice, device, size_class, backend, task, tier)
  qualify row_number() over (
    partition by choice, device, size_class, backend, task, tier
    order by coalesce(is_firm(verdict), true) desc, speedup desc, submission, depth
  ) = 1
),
every_tier as (
  select
    'all' as choice, device, size_class, backend, task, tier, device_label, device_kind, vram_gib,
    size_order, cells, helping_cells, losing_cells, failed_cells, speedup, interval_low,
    interval_high, verdict, mark, method_label, depth, target_label, submissions, rigs
  from map_cell
  union all
  select
    method, device, size_class, backend, task, tier, device_label, device_kind, vram_gib,
    size_order, cells, helping_cells, losing_cells, failed_cells, speedup, interval_low,
    interval_high, verdict, mark, method_label, depth, target_label, submissions, rigs
  from map_method
  union all
  select
    choice, device, size_class, backend, task, tier, device_label, device_kind, vram_gib,
    size_order, cells, helping_cells, losing_cells, failed_cells, speedup,
    chosen_low(speedup, interval_low, choices),
    interval_high,
    chosen_verdict(verdict, speedup, interval_low, interval_high, choices),
    chosen_verdict(verdict, speedup, interval_low, interval_high, choices),
    method_label, depth, target_label, submissions, rigs
  from best
)
select *
from every_tier
qualify row_number() over (
  partition by choice, device, size_class, backend, task
  order by case tier when 'measured' then 0 when 'imported' then 1 else 2 end, speedup desc
) = 1
order by task, choice, device, backend, size_order;
