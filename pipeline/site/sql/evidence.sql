-- One row is one figure of the map for `answers`: a device with a model and a method, on one task,
-- for all quantisations or for one of them. Its columns have the names of `planner.evidence`.
select
  * exclude (quantisation, sources),
  device_label as name,
  target_label as target_name,
  vram_gib as gib,
  interval_low as low,
  interval_high as high,
  if(scope = 'quantisation', scope_label, null) as quantisation,
  if(submission is null, sources, [submission]) as sources,
  device_kind = 'cpu' or backend = 'cpu' as on_cpu
from pair
where scope in ('method', 'quantisation') and condition is null and tier_order = 1
  and (scope = 'method' or task = 'all')
qualify
  scope = 'method' or max(len(quantisations)) over (partition by device, target, method) > 1
order by device, target, method, task, scope, scope_label;
