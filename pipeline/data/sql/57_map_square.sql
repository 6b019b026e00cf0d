-- One row is one square of the home page's map: device × size class × backend × task × choice (a
-- method, or 'all' for all of them) × shown (the best, the typical or the worst setting in it), from
-- the best tier that it has: measured, else imported, else published. Tiers never meet in a square.
-- The best is that of the table `best`; the typical is the median, of
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
    interval_low, interval_high, stated_request, stated_request_low, stated_request_high, verdict,
    confirmed, at_most,
    submissions, rigs, cell as name, false as differs
  from cell
  where concurrency = 1 and conditions is null
  union all by name
  select * exclude (candidate, kind, shown, slower_request), candidate as name, false as differs
  from candidate
  where kind = 'arm' and shown and own_tasks
  union all by name
  select
    * replace (coalesce(task, 'all') as task),
    false as confirmed,
    source as name,
    len(coalesce(also_differs, [])) > 0 as differs
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
claimed as (
  select
    comparable.*,
    best.candidate is not null as picked,
    best.interval_low as picked_low,
    best.verdict as picked_verdict,
    best.at_least
  from comparable
  left join best
    on best.place = 'square' and best.tier = comparable.tier and best.candidate = comparable.name
    and best.scope = concat_ws('|', comparable.device, comparable.backend, comparable.size_order,
      comparable.task, comparable.choice)
),
ranked as (
  select
    *,
    count(*) over square as cells,
    count(*) filter (speedup is not null and verdict = 'helps') over square as helping_cells,
    count(*) filter (speedup is not null and loses(verdict)) over square as losing_cells,
    count(*) filter (speedup is null) over square as failed_cells,
    count(speedup) over square as choices,
    row_number() over (
      square order by picked desc, speedup desc nulls last, name, depth
    ) as from_best,
    row_number() over (square order by speedup nulls last, name desc, depth desc) as from_worst
  from claimed
  window square as (partition by choice, device, size_class, backend, task, tier)
),
placed as (
  select
    *,
    unnest([
      if(from_best = 1, 'best', null),
      if(from_worst = (choices + 1) // 2 or (choices = 0 and from_worst = 1), 'typical', null),
      if(from_worst = 1, 'worst', null)
    ]) as shown
  from ranked
),
bounded as (
  select
    placed.* replace (
      if(shown = 'best', picked_low, interval_low) as interval_low,
      if(shown = 'worst', chosen_high(speedup, interval_high, factor), interval_high)
        as interval_high,
      if(shown = 'best', at_least, null) as at_least
    )
  from placed
  asof join choice_factor on greatest(1, placed.choices) <= choice_factor.choices
  where shown is not null
),
judged as (
  select
    * replace (
      case
        when speedup is null then null
        when shown = 'best' then picked_verdict
        when is_signed(verdict) then verdict_of(
          interval_low, interval_high, stated_request_low, stated_request_high
        )
        else verdict
      end as verdict,
      if(speedup is null, null, interval_low) as interval_low,
      if(speedup is null, null, interval_high) as interval_high
    )
  from bounded
)
select
  choice, shown, device, size_class, backend, task, tier, device_label, device_kind, vram_gib,
  size_order, cells, helping_cells, losing_cells, failed_cells, choices, speedup,
  interval_low, interval_high, stated_request, stated_request_low, stated_request_high,
  at_least, coalesce(at_most, false) as at_most, verdict,
  mark_of(verdict, confirmed) as mark,
  method, method_label, depth, target_label, quantisation, submissions, rigs, differs
from judged
qualify row_number() over (
  partition by choice, shown, device, size_class, backend, task
  order by case tier when 'measured' then 0 when 'imported' then 1 else 2 end, speedup desc
) = 1
order by shown, task, choice, device, backend, size_order;
