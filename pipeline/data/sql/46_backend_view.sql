-- One row is one method on one device through one backend, by size class, task ('all' too) and tier.
create table backend_view as
with described as (
  select
    pool,
    any_value(tier) as tier,
    any_value(task) as task,
    any_value(device) as device,
    any_value(device_label order by submission) as device_label,
    any_value(backend) as backend,
    any_value(size_class) as size_class,
    any_value(size_order) as size_order,
    any_value(method) as method,
    any_value(method_label order by submission) as method_label
  from pool_member
  where pool_kind = 'backend'
  group by pool
),
backends as (
  select device, count(distinct backend) as device_backends
  from setup
  where counted
  group by device
)
select described.* exclude (pool), device_backends, pool.* exclude (pool, pool_kind)
from described
join backends using (device)
join pool using (pool)
order by tier desc, device, size_order, task, method, backend;
