-- One row is one method on one task in one tier, over all devices and targets.
select
  task,
  task_label(task) as task_label,
  method,
  method_label,
  speedup,
  interval_low,
  interval_high,
  stated_request,
  verdict,
  verdict_label(mark) as verdict_label,
  worst_speedup,
  best_speedup,
  acceptance_rate,
  tokens_per_round,
  submissions,
  rigs,
  contributors
from task_view
where tier = $tier and speedup is not null
order by
  task_order(task),
  method;
