-- One row is one square of the home page's map: device × size class × backend × task × choice (a
-- method, or 'all' for all of them) × shown (the best, the typical or the worst setting in it), from
-- the best tier that it has: measured, else imported, else published. Tiers never meet in a square.
-- The best is the highest figure that clearly helps, else the highest; the typical is the median, of
-- an even number the slower one. Settings that never drafted have no figure.
-- A ratio whose two runs `differ` in more than speculation stands only where there is no other.
-- The bound of the best towards 1 allows for the choice, and so does that of the worst. Over all tasks an
-- imported square is over its suite's own prompts, a published one over whatever its source took.
create table map_square as
with figures as (
  select
    device, size_class, backend, task, tier, device_label, device_kind, vram_gib, size_order,
    method, method_label, depth, target_label, quantisation,
    if(verdict = 'never-drafted', null, speedup) as speedup,
    interval_low, interval_high, verdict, confirmed, submissions, rigs, cell as name, false as differs
  from cell
  where concurrency = 1 and conditions is null
  union all
  select
    device, size_class, backend, 'all', tier, device_label, device_kind, vram_gib, size_order,
    method, method_label, depth, target_label, quantisation, speedup, interval_low, interval_high,
    verdict, false, null, null, submission, false
  from evidence
  where task = 'own' and role = 'speculation' and counted and concurrency = 1 and conditions is null
    and speedup is not null and verdict <> 'never-drafted'
  union all
  select
    device, size_class, backend, coalesce(task, 'all'), tier, device_label, device_kind, vram_gib,
    size_order, method, method_label, depth, target_label, quantisation, speedup, null, null, null,
    false, null, null, source, len(coalesce(also_differs, [])) > 0
  from published_pair
),
chosen as (
  select 'all' as choice, * from figures
  union all
  select method as choice, * from figures
),
comparable as (
  select *
  from chosen
  qualify not differs
    or bool_and(differs) over (partition by choice, device, size_class, backend, task, tier)
),
ranked as (
  select
    *,
    count(*) over square as cells,
    count(*) filter (speedup is not null and verdict = 'helps') over square as helping_cells,
    count(*) filter (speedup is not null and verdict = 'hurts') over square as losing_cells,
    count(*) filter (speedup is null) over square as failed_cells,
    count(speedup) over square as found,
    greatest(
      1, count(*) filter (is_firm(verdict) and speedup is not null) over square
    ) as choices,
    row_number() over (
      square order by verdict = 'helps' and speedup is not null desc,
      coalesce(is_firm(verdict), true) desc, speedup desc nulls last, name, depth
    ) as from_best,
    row_number() over (square order by speedup nulls last, name desc, depth desc) as from_worst
  from comparable
  window square as (partition by choice, device, size_class, backend, task, tier)
),
placed as (
  select
    *,
    unnest([
      if(from_best = 1, 'best', null),
      if(from_worst = (found + 1) // 2 or (found = 0 and from_worst = 1), 'typical', null),
      if(from_worst = 1, 'worst', null)
    ]) as shown
  from ranked
),
bounded as (
  select
    * replace (
      case
        when speedup is null then null
        when shown = 'best' then chosen_low(speedup, interval_low, choices)
        else interval_low
      end as interval_low,
      case
        when speedup is null then null
        when shown = 'worst' then chosen_high(speedup, interval_high, choices)
        else interval_high
      end as interval_high
    )
  from placed
  where shown is not null
),
judged as (
  select
    * replace (
      case
        when speedup is null then null
        when is_firm(verdict) then verdict_of(interval_low, interval_high)
        else verdict
      end as verdict
    )
  from bounded
)
select
  choice, shown, device, size_class, backend, task, tier, device_label, device_kind, vram_gib,
  size_order, cells, helping_cells, losing_cells, failed_cells, speedup,
  interval_low, interval_high, verdict, mark_of(verdict, confirmed) as mark,
  method, method_label, depth, target_label, quantisation, submissions, rigs, differs
from judged
qualify row_number() over (
  partition by choice, shown, device, size_class, backend, task
  order by case tier when 'measured' then 0 when 'imported' then 1 else 2 end, speedup desc
) = 1
order by shown, task, choice, device, backend, size_order;
