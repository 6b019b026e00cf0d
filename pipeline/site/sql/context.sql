-- One row is one arm at one depth of context in one tier, over all tasks or else on one, where
-- `column` is known.
select
  series,
  place_label,
  arm_label,
  method,
  method_label,
  context_depth,
  round_cost,
  acceptance_rate,
  tokens_per_round,
  speedup,
  interval_low,
  interval_high,
  stated_request,
  verdict,
  verdict_label(mark) as verdict_label
from context_view
where tier = $tier and summary
  and if($column = 'round_cost', round_cost, nullif(acceptance_rate, 0)) is not null
qualify count(*) over (partition by series) > 1
order by series, context_depth;
