-- One row is one cell of the map, with the median over votes: device × backend × target ×
-- quantisation × method × depth × draft × concurrency × conditions × suite × engine × task ('all'
-- too) × tier.
create table cell as
with described as (
  select
    pool,
    any_value(
      columns([
        'tier', 'task', 'device', 'device_label', 'device_kind', 'vram_gib', 'backend',
        'engine_label', 'target', 'target_label', 'quantisation', 'method', 'method_label',
        'depth', 'draft_label', 'concurrency', 'conditions', 'suite_label'
      ])
      order by submission
    ),
    max(parameters) as parameters,
    max(active_parameters) as active_parameters,
    any_value(parameters_label order by parameters desc nulls last, submission) as parameters_label,
    size_class(max(parameters)) as size_class,
    size_order(max(parameters)) as size_order
  from pool_member
  where decides
  group by pool
)
select pool as cell, described.* exclude (pool), pool.* exclude (pool)
from described
join pool using (pool)
order by cell;
