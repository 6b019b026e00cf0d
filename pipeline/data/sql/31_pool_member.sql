-- One row puts one piece of evidence about a speculative arm into one pool of comparable evidence.
-- Every pool carries its tier: measured and imported evidence never meet. A cell also carries its
-- engine (two runners draft and count differently) and its concurrency and its conditions; pools over cells
-- hold single requests under the usual settings only, for what a batch or a long context leaves of a
-- speedup is another question (concurrency_view, context_view).
-- A figure over a suite's own tasks is in no pool: another suite has others.
-- `series` is the address of a cell without its concurrency, task and tier.
create table pool_member as
with judged as (
  select
    evidence.*,
    setting.setting,
    setting.draft as draft_slug,
    identity.quantisation as quantisation_slug,
    concat_ws('-', identity.place, setting.setting) as series
  from evidence
  join identity using (submission)
  join setting using (submission, arm)
  where evidence.role = 'speculation' and evidence.counted and evidence.task <> 'own'
),
as_cell as (
  select
    'cell' as pool_kind,
    series || '-c' || concurrency || '--' || task || '--' || tier as pool,
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
    concat_ws('--', 'method', task, method, coalesce('n' || depth, varied_by), tier) as pool,
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
union all from as_task where concurrency = 1 and conditions is null
union all from as_method where concurrency = 1 and conditions is null
union all from as_backend where concurrency = 1 and conditions is null;
