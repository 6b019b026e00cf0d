-- One row is one device and size of model, for a backend and a task or for `any` of them: the pair
-- of the model that most people tried. Only the 40 devices that most people tried are kept, so that
-- the map is readable and light; Explore has all devices.
with tried as (
  select device
  from pair
  where scope = 'pair' and task = 'all' and condition is null and tier_order = 1
  group by device
  order by min(backing), sum(people) desc, count(*) desc, device
  limit 40
)
select
  device, device_label, size_class, size_order, coalesce(nullif(scope_label, ''), 'any') as backend,
  if(task = 'all', 'any', task_label(task)) as task_label,
  target_label, method, method_label, speedup, people, figures, tier
from pair
semi join tried using (device)
where scope in ('pair', 'backend') and condition is null and tier_order = 1
  and size_class <> 'unknown size'
qualify row_number() over (
  partition by device, size_class, scope_label, task
  order by backing, people desc, figures desc, target
) = 1
order by backend <> 'any', task <> 'all', backend, task, device_label, size_order;
