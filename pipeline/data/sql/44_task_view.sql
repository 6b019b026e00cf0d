-- One row is one method on one task ('all' too) in one tier, over all devices and targets.
create table task_view as
with described as (
  select
    pool,
    any_value(tier) as tier,
    any_value(task) as task,
    any_value(method) as method,
    any_value(method_label order by submission) as method_label,
    count(distinct device) as devices,
    count(distinct target) as targets,
    min(speedup) filter (verdict <> 'never-drafted') as worst_speedup,
    max(speedup) filter (verdict <> 'never-drafted') as best_speedup
  from pool_member
  where pool_kind = 'task'
  group by pool
)
select described.* exclude (pool), pool.* exclude (pool, pool_kind)
from described
join pool using (pool)
order by tier desc, task, method;
