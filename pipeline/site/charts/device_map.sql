-- One row is one square of one device's map: its tasks against the size classes measured on it.
select
  task_label(task) || if(count(distinct backend) over () > 1, ' · ' || backend, '') as line_label,
  task,
  backend,
  size_class,
  size_order,
  speedup,
  interval_low,
  interval_high,
  interval_kind,
  interval_label(interval_kind) as interval_label,
  verdict,
  verdict_label(verdict) as verdict_label,
  method_label,
  depth,
  target_label,
  quantisation,
  default_speedup,
  cells,
  losing_cells,
  submissions,
  contributors
from map_cell
where tier = $tier and device = $device
order by
  task_order(task),
  line_label,
  size_order;
