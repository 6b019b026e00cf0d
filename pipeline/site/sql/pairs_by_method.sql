-- One row is one device with one model and one method over all tasks: the value on the map.
select
  device_label, device_kind, target_label, parameters, method, method_label, depths, lesser, speedup
from strip
where selection = 2 and task = 'all' and condition is null and tier_order = 1
order by device, target, method;
