-- One row is one setting under one engine build, of the settings that have at least $least builds.
-- At most 24 settings are kept, with a detected step first. The same setting of another
-- contributor is a separate line. `change` is paired by prompt and relative to the first build.
with ranked as (
  select
    *,
    dense_rank() over (order by stepped desc, builds desc, series) as line_number
  from (
    select *, bool_or(step is not null) over (partition by series) as stepped
    from build_step
  )
  where builds >= $least::bigint
)
select
  concat_ws(' · ', device_label, backend, target_label || ' ' || quantisation, method_label
    || coalesce(' · depth ' || depth, '')) as setting_label,
  line_number::varchar as line,
  backend,
  engine_build,
  build_order,
  coalesce(try_cast(regexp_extract(engine_build, '[0-9]+$') as bigint), 0) as build_number,
  strftime(measured_from, '%Y-%m-%d') as measured_on,
  speedup,
  interval_low,
  interval_high,
  stated_request,
  baseline_tps,
  coalesce(speedup_change, 1) as change,
  change_low,
  change_high,
  speedup_change,
  baseline_change,
  coalesce(step, 'none') as step_label
from ranked
where line_number <= 24
order by line_number, build_order;
