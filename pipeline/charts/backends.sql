-- One row is one backend on one device that was measured with several, by size class and method.
select
  concat_ws(' · ', device_label, size_class, method_label) as line_label,
  device,
  device_label,
  size_class,
  method_label,
  backend,
  speedup,
  interval_low,
  interval_high,
  interval_kind,
  interval_label(interval_kind) as interval_label,
  verdict,
  verdict_label(verdict) as verdict_label,
  baseline_tps,
  tps,
  round_cost,
  submissions
from backend_view
where tier = $tier and task = $task and device_backends > 1 and speedup is not null
order by device, size_order, method_label, backend;
