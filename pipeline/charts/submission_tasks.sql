-- One row is one arm of one submission on one task.
select
  task,
  arm,
  role,
  method,
  method_label,
  depth,
  speedup,
  interval_low,
  interval_high,
  verdict,
  acceptance_rate,
  tokens_per_round,
  round_cost,
  prompts,
  trials
from evidence
where submission = $submission and speedup is not null
order by
  list_position(
    ['all', 'code', 'math', 'reasoning', 'summarization', 'chat', 'json', 'creative', 'translation'],
    task
  ) nulls last,
  arm;
