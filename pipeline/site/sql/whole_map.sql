-- One row is one device and size of model, for a task and for a backend or a method, or for `any`
-- of them: the pair of the model that most people tried. Only the 30 devices that most people tried
-- are kept, so that the map is readable and light; Explore has all devices.
with tried as (
  select device
  from pair
  where scope = 'pair' and task = 'all' and condition is null and tier_order = 1
  group by device
  order by min(backing), sum(people) desc, count(*) desc, device
  limit 30
)
select
  device, device_label, size_class, size_order,
  case scope when 'backend' then scope_label when 'method' then method_label else 'any' end
    as choice,
  if(task = 'all', 'any', task_label(task)) as task_label,
  target_label, method, method_label, speedup, people, figures, tier
from pair
semi join tried using (device)
where scope in ('pair', 'backend', 'method') and condition is null and tier_order = 1
  and parameters is not null
qualify row_number() over (
  partition by device, size_class, choice, task
  order by backing, people desc, figures desc, target
) = 1
order by choice <> 'any', task <> 'all', choice, task, device_label, size_order;
