-- One row is one arm of one submission on one task. An arm is called by its method and depth, and
-- by its id where two arms share those.
with described as (
  select
    *,
    method_label || coalesce(', depth ' || depth, '') as method_and_depth
  from evidence
  where submission = $submission and speedup is not null
)
select
  task,
  task_label(task) as task_label,
  arm,
  if(
    count(distinct arm) over (partition by method_and_depth) > 1, arm, method_and_depth
  ) as arm_label,
  role,
  method,
  method_label,
  depth,
  speedup,
  interval_low,
  interval_high,
  verdict,
  verdict_label(verdict) as verdict_label,
  acceptance_rate,
  tokens_per_round,
  round_cost,
  prompts,
  trials
from described
order by
  task_order(task),
  arm;
