-- One row is one contributor's cell with the prediction by the probes of the cell's own
-- campaign. More than 300 cells are sampled evenly by digest, so that the chart is readable and
-- light; the exported table `predictions` has all.
select
  device_label,
  backend,
  target_label,
  quantisation,
  method_label,
  depth,
  task_label(task) as task_label,
  predicted_speedup as predicted,
  speedup,
  exp(abs(ln(speedup / predicted_speedup))) - 1 as off_by
from prediction
qualify row_number() over (order by md5(cell || '@' || voter)) <= 300
order by cell, voter;
