-- One row is one method at one depth on one task in one tier.
select
  method,
  method_label,
  depth,
  speedup,
  interval_low,
  interval_high,
  stated_request,
  verdict,
  verdict_label(mark) as verdict_label,
  acceptance_rate,
  tokens_per_round,
  round_cost,
  submissions,
  rigs,
  contributors
from method_view
where tier = $tier and task = $task and speedup is not null and depth is not null
order by method, depth;
