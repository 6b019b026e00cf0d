-- One row is one device with one model and one method over all tasks: the figure of the map.
select
  concat_ws(' · ', method_label, tier) as line_label,
  method, method_label, device_label, target_label, speedup, verdict, backing, people,
  tier,
  median(speedup) over line as typical, count(*) over line as dots
from pair
where scope = 'method' and task = 'all' and condition is null and tier_order = 1
window line as (partition by method, tier)
order by dots desc, line_label, device, target;
