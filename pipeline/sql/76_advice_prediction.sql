-- One row is one observation beside what the advisor says without its voter, and beside what the
-- probes of its own campaign predict. Null where nobody else has measured anything near.
-- log speedup = log tokens per round - log round cost; both variances add up, each for a new voter
-- (its level's variance times 1 + 1/votes); t with the smaller of the two degrees of freedom.
create table advice_prediction as
with joined as (
  select
    advice_observation.*,
    cost.level as cost_level,
    yielded.level as yield_level,
    cost.votes as cost_votes,
    yielded.votes as yield_votes,
    exp(cost.mean_log) as advised_round_cost,
    exp(yielded.mean_log) as advised_tokens_per_round,
    yielded.mean_log - cost.mean_log as advised_log,
    cost.variance * (1 + 1.0::double / cost.votes)
      + yielded.variance * (1 + 1.0::double / yielded.votes) as variance,
    if(cost.freedom is null or yielded.freedom is null, null,
      least(cost.freedom, yielded.freedom)) as freedom
  from advice_observation
  left join advice_left_out as cost
    on cost.observation = advice_observation.observation and cost.part = 'cost'
  left join advice_left_out as yielded
    on yielded.observation = advice_observation.observation and yielded.part = 'yield'
),
predicted as (
  select joined.*, sqrt(variance) * incoming_reach.reach as half_width
  from joined
  left join incoming_reach using (freedom)
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
comment on column advice_prediction.advised_speedup is '{"label": "Advised without this voter", "unit": "×", "direction": "higher"}';
comment on column advice_prediction.advised_low is '{"label": "Advised, lower bound", "unit": "×", "direction": "higher"}';
comment on column advice_prediction.advised_high is '{"label": "Advised, upper bound", "unit": "×", "direction": "higher"}';
comment on column advice_prediction.advised_error is '{"label": "Error of the advice", "unit": "fraction", "direction": "lower"}';
comment on column advice_prediction.cost_votes is '{"label": "Votes behind the round cost", "unit": "contributors × machines", "direction": "higher"}';
comment on column advice_prediction.yield_votes is '{"label": "Votes behind the tokens per round", "unit": "contributors × machines", "direction": "higher"}';
comment on column advice_prediction.advised_round_cost is '{"label": "Advised round cost R", "unit": "baseline tokens", "direction": "lower"}';
comment on column advice_prediction.advised_tokens_per_round is '{"label": "Advised tokens per round", "unit": "tokens", "direction": "higher"}';
