-- One row is one arm of one submission on one task. An arm's name is its method and depth. The
-- setting is added if two arms share method and depth, and the arm's id if they also share the
-- setting.
with described as (
  select
    *,
    method_label || coalesce(', depth ' || depth, '') as method_and_depth,
    concat_ws(', ', method_and_depth, nullif(concurrency, 1) || ' at once', conditions) as setting,
    concat_ws(', ', setting, draft_label) as whole_setting
  from evidence
  where submission = $submission and speedup is not null
)
select
  task,
  task_label(task) as task_label,
  arm,
  case
    when count(distinct arm) over (partition by method_and_depth) = 1 then method_and_depth
    when count(distinct arm) over (partition by setting) = 1 then setting
    when count(distinct arm) over (partition by whole_setting) = 1 then whole_setting
    else arm
  end as arm_label,
  role,
  method,
  method_label,
  depth,
  speedup,
  interval_low,
  interval_high,
  verdict,
  verdict_label(verdict) as verdict_label,
  whole_request,
  baseline_tps,
  tps,
  acceptance_rate,
  tokens_per_round,
  round_cost,
  prompts,
  trials
from described
order by
  task_order(task),
  arm;
