-- One row puts one piece of evidence about a speculative arm into one pool of comparable evidence.
-- Every pool carries its tier: measured and imported evidence never meet. A cell also carries its
-- engine (two runners draft and count differently) and its concurrency; pools over cells hold
-- single requests only, for what a batch leaves of a speedup is another question (concurrency_view).
create table pool_member as
with judged as (
  select * from evidence where role = 'speculation' and counted
),
as_cell as (
  select
    'cell' as pool_kind,
    slug(concat_ws(' ', device_label, backend, other_engine(engine_label), target_label,
      quantisation, method_label,
      'n' || depth, draft_label, 'c' || concurrency)) || '--' || task || '--' || tier as pool,
    *
  from judged
),
as_task as (
  select 'task' as pool_kind, concat_ws('--', 'task', task, method, tier) as pool, *
  from judged
),
as_method as (
  select
    'method' as pool_kind,
    concat_ws('--', 'method', task, method, 'n' || depth, tier) as pool,
    *
  from judged
),
as_backend as (
  select
    'backend' as pool_kind,
    concat_ws('--', 'backend', device, backend, size_order, task, method, tier) as pool,
    *
  from judged
)
from as_cell
union all from as_task where concurrency = 1
union all from as_method where concurrency = 1
union all from as_backend where concurrency = 1;
