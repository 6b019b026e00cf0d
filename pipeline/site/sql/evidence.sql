-- One row is one figure of the map for `answers`: a device with a model and a method, on one task,
-- for all quantisations or for one of them.
select
  *,
  if(scope = 'quantisation', scope_label, null) as of_quantisation,
  if(submission is null, sources, [submission]) as all_sources,
  device_kind = 'cpu' or backend = 'cpu' as on_cpu
from pair
where scope in ('method', 'quantisation') and condition is null and tier_order = 1
  and (scope = 'method' or task = 'all')
qualify
  scope = 'method' or max(len(quantisations)) over (partition by device, target, method) > 1
order by device, target, method, task, scope, scope_label;
