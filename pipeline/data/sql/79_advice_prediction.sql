-- One row is one observation with what the advisor says without its voter, and what the
-- probes of its own campaign predict. Null where nobody else has measured anything near.
create table advice_prediction as
with predicted as (
  select
    advice_score.*,
    spread_half_width * coalesce(advice_widening.widening, 1) as half_width
  from advice_score
  left join advice_widening
    on advice_widening.left_out = advice_score.fold
    and advice_widening.method = advice_score.method
)
select
  observation, cell, voter, device, device_label, backend, target, target_label, quantisation,
  size_class, method, method_label, depth, draft_label, task,
  speedup,
  predicted_speedup,
  speedup / predicted_speedup - 1 as unexplained,
  exp(advised_log) as advised_speedup,
  exp(advised_log - half_width) as advised_low,
  exp(advised_log + half_width) as advised_high,
  exp(abs(ln(speedup) - advised_log)) - 1 as advised_error,
  abs(ln(speedup) - advised_log) <= half_width as advised_holds,
  cost_level,
  yield_level,
  cost_votes,
  yield_votes,
  advised_round_cost,
  advised_tokens_per_round,
  submission_list[1] as submission
from predicted
order by observation;
