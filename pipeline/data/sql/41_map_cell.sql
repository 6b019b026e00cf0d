-- One row is one square of the map: device × size class × backend × task × tier, with the best
-- speculative cell in it (highest speedup of those that support a verdict; its lower bound allows
-- for the choice) and the default one (draft model, most votes), for one
-- request at a time under the usual settings.
create table map_cell as
with single as (
  select * from cell where concurrency = 1 and conditions is null
),
ranked as (
  select
    *,
    row_number() over (
      partition by device, size_class, backend, task, tier
      order by is_firm(verdict) desc, speedup desc, cell
    ) as best_rank,
    greatest(1, count(*) filter (is_firm(verdict)) over (
      partition by device, size_class, backend, task, tier
    )) as choices,
    row_number() over (
      partition by device, size_class, backend, task, tier
      order by method = 'draft-model' desc, votes desc, prompts desc, depth, cell
    ) as default_rank
  from single
  where speedup is not null
),
squares as (
  select
    device,
    size_class,
    backend,
    task,
    tier,
    any_value(device_label order by cell) as device_label,
    any_value(device_kind order by cell) as device_kind,
    any_value(vram_gib order by cell) as vram_gib,
    any_value(size_order) as size_order,
    count(*) as cells,
    count(*) filter (verdict = 'helps') as helping_cells,
    count(*) filter (verdict = 'hurts') as losing_cells,
    count(*) filter (speedup is null) as failed_cells,
    list(distinct target_label order by target_label) as targets,
    max(last_measured) as last_measured
  from single
  group by device, size_class, backend, task, tier
),
bounded as (
  select * replace (chosen_low(speedup, interval_low, choices) as interval_low)
  from ranked
  where best_rank = 1
),
judged as (
  select * replace (chosen_verdict(verdict, interval_low, interval_high) as verdict)
  from bounded
),
best as (
  select
    device, size_class, backend, task, tier,
    cell as best_cell,
    choices,
    speedup,
    interval_low,
    interval_high,
    interval_kind,
    verdict,
    confirmed,
    mark_of(verdict, confirmed) as mark,
    method,
    method_label,
    depth,
    draft_label,
    target,
    target_label,
    quantisation,
    baseline_tps,
    tps,
    tokens_per_round,
    round_cost,
    acceptance_rate,
    submissions,
    rigs,
    contributors,
    prompts,
    preview_submissions
  from judged
),
fallback as (
  select
    device, size_class, backend, task, tier,
    cell as default_cell,
    speedup as default_speedup,
    verdict as default_verdict,
    method_label as default_method_label,
    depth as default_depth
  from ranked
  where default_rank = 1
)
select *
from squares
left join best using (device, size_class, backend, task, tier)
left join fallback using (device, size_class, backend, task, tier)
order by tier, task, device, backend, size_order;
