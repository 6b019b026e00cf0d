-- One row is one square of a target's map: target × device × backend × task, with the best setting of
-- the best tier that it has, as the table `best` has it. Where nobody
-- measured, here or with another tool, it is the highest ratio that others print.
with figures as (
  select
    target, device, device_label, device_kind, vram_gib, backend, task, tier, target_label,
    count(*) over (partition by target, device, backend, task, tier) as cells
  from cell
  where concurrency = 1 and conditions is null
  qualify row_number() over (
    partition by target, device, backend, task order by tier = 'measured' desc, cell
  ) = 1
),
known as (
  select
    figures.target, figures.device, figures.device_label, figures.device_kind, figures.vram_gib,
    figures.backend, figures.task, figures.tier, speedup, cells, interval_low, interval_high,
    stated_request, verdict,
    mark, at_least, coalesce(at_most, false) as at_most, method_label, depth, figures.target_label,
    false as differs
  from figures
  left join best
    on place = 'target-square' and best.tier = figures.tier
    and scope = concat_ws('|', figures.target, figures.device, figures.backend, figures.task)
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
  null, null, null, null, null, null, false, method_label, depth, target_label, false
from printed
anti join known
  on (known.target, known.device, known.backend, known.task)
    = (printed.target, printed.device, printed.backend, printed.square_task)
order by target, device, backend, task_order(task);
