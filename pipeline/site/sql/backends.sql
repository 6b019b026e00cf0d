-- One row is one backend on one device that ran with several, by size class, method and task: of
-- the settings in which speculation was judged through several, the twelve where they differ most:
-- those first whose intervals lie apart, by how far.
with judged as (
  select
    *,
    max(ln(speedup)) over setting - min(ln(speedup)) over setting as spread,
    max(ln(interval_low)) over setting - min(ln(interval_high)) over setting as apart,
    count(*) over setting as backends
  from backend_view
  where tier = $tier and ($task = 'every' or task = $task) and device_backends > 1 and speedup is not null
  window setting as (partition by device, size_class, method_label, task)
),
ranked as (
  select
    *,
    dense_rank() over (order by greatest(apart, 0) desc nulls last, spread desc, device, size_order, method_label, task) as place
  from judged
  where backends > 1
)
select
  concat_ws(' · ', device_label, size_class, method_label, if($task = 'every', task_label(task), null))
    as line_label,
  device,
  device_label,
  size_class,
  method_label,
  backend,
  speedup,
  interval_low,
  interval_high,
  stated_request,
  verdict,
  verdict_label(mark) as verdict_label,
  baseline_tps,
  tps,
  round_cost,
  submissions,
  (select max(place) from ranked) as settings
from ranked
where place <= 12
order by place, backend;
