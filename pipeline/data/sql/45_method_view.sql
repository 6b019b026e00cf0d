-- One row is one method at one depth on one task ('all' too) in one tier, over all devices.
create table method_view as
with described as (
  select
    pool,
    any_value(tier) as tier,
    any_value(task) as task,
    any_value(method) as method,
    any_value(method_label order by submission) as method_label,
    any_value(depth) as depth,
    count(distinct device) as devices,
    count(distinct target) as targets,
    min(speedup) filter (verdict <> 'never-drafted') as worst_speedup,
    max(speedup) filter (verdict <> 'never-drafted') as best_speedup
  from pool_member
  where pool_kind = 'method'
  group by pool
)
select described.* exclude (pool), pool.* exclude (pool, pool_kind)
from described
join pool using (pool)
order by tier desc, task, method, depth;
