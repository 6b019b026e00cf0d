-- One row is one arm with one number of requests in flight, on one task in one tier.
select
  series,
  place_label,
  arm_label,
  method,
  method_label,
  concurrency,
  speedup,
  interval_low,
  interval_high,
  stated_request,
  verdict,
  verdict_label(mark) as verdict_label,
  total_speedup,
  total_tps,
  tokens_per_round,
  round_cost
from concurrency_view
where tier = $tier and task = $task and speedup is not null
order by series, concurrency;
