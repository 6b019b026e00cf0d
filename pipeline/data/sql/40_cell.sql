-- One row is one cell of the map, with the median over votes: device × backend × target ×
-- quantisation × method × depth × draft × concurrency × conditions × suite × engine × task ('all'
-- too) × tier.
create table cell as
with described as (
  select
    pool,
    any_value(tier order by submission) as tier,
    any_value(task order by submission) as task,
    any_value(device order by submission) as device,
    any_value(device_label order by submission) as device_label,
    any_value(device_kind order by submission) as device_kind,
    any_value(vram_gib order by submission) as vram_gib,
    any_value(backend order by submission) as backend,
    any_value(engine_label order by submission) as engine_label,
    any_value(target order by submission) as target,
    any_value(target_label order by submission) as target_label,
    max(parameters) as parameters,
    max(active_parameters) as active_parameters,
    any_value(parameters_label order by parameters desc nulls last, submission) as parameters_label,
    size_class(max(parameters)) as size_class,
    size_order(max(parameters)) as size_order,
    any_value(quantisation order by submission) as quantisation,
    any_value(method order by submission) as method,
    any_value(method_label order by submission) as method_label,
    any_value(depth order by submission) as depth,
    any_value(draft_label order by submission) as draft_label,
    any_value(concurrency order by submission) as concurrency,
    any_value(conditions order by submission) as conditions,
    any_value(suite_label order by submission) as suite_label
  from pool_member
  where decides
  group by pool
)
select pool as cell, described.* exclude (pool), pool.* exclude (pool)
from described
join pool using (pool)
order by cell;
