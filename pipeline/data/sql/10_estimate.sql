-- One row is what one submission says about one arm on one task; task is null over all tasks.
create table estimate as
with listed as (
  select submission, unnest(summary.estimates) as estimate
  from submission_document
)
select
  submission,
  estimate.* exclude (
    "interval", bootstrap, repeatability, cpu_interval, exactness, over_alternative_interval
  ),
  estimate."interval".low as interval_low,
  estimate."interval".high as interval_high,
  estimate.bootstrap.low as bootstrap_low,
  estimate.bootstrap.high as bootstrap_high,
  estimate.over_alternative_interval.low as over_alternative_low,
  estimate.over_alternative_interval.high as over_alternative_high,
  estimate.repeatability.low as repeatability_low,
  estimate.repeatability.high as repeatability_high,
  estimate.cpu_interval.low as cpu_interval_low,
  estimate.cpu_interval.high as cpu_interval_high,
  estimate.exactness.identical,
  estimate.exactness.diverged_near_tie,
  estimate.exactness.diverged,
  estimate.exactness.not_compared
from listed
order by submission, estimate.arm, estimate.task nulls first;
comment on column estimate.prompts is '{"label": "Prompts", "unit": "prompts", "direction": "higher"}';
comment on column estimate.trials is '{"label": "Trials", "unit": "trials", "direction": "higher"}';
comment on column estimate.failed_trials is '{"label": "Failed trials", "unit": "trials", "direction": "lower"}';
comment on column estimate.speedup is '{"label": "Speedup", "unit": "×", "direction": "higher"}';
comment on column estimate.interval_low is '{"label": "Speedup, lower bound", "unit": "×", "direction": "higher"}';
comment on column estimate.interval_high is '{"label": "Speedup, upper bound", "unit": "×", "direction": "higher"}';
comment on column estimate.bootstrap_low is '{"label": "Speedup, lower bound (bootstrap)", "unit": "×", "direction": "higher"}';
comment on column estimate.bootstrap_high is '{"label": "Speedup, upper bound (bootstrap)", "unit": "×", "direction": "higher"}';
comment on column estimate.over_alternative is '{"label": "Speedup over the target alone", "unit": "×", "direction": "higher"}';
comment on column estimate.over_alternative_low is '{"label": "Speedup over the target alone, lower bound", "unit": "×", "direction": "higher"}';
comment on column estimate.over_alternative_high is '{"label": "Speedup over the target alone, upper bound", "unit": "×", "direction": "higher"}';
comment on column estimate.repeatability_low is '{"label": "Speedup on these prompts, lower bound", "unit": "×", "direction": "higher"}';
comment on column estimate.repeatability_high is '{"label": "Speedup on these prompts, upper bound", "unit": "×", "direction": "higher"}';
comment on column estimate.cpu_speedup is '{"label": "Speedup by processor time", "unit": "×", "direction": "higher"}';
comment on column estimate.cpu_interval_low is '{"label": "Speedup by processor time, lower bound", "unit": "×", "direction": "higher"}';
comment on column estimate.cpu_interval_high is '{"label": "Speedup by processor time, upper bound", "unit": "×", "direction": "higher"}';
comment on column estimate.baseline_tps is '{"label": "Baseline rate", "unit": "tokens/s", "direction": "higher"}';
comment on column estimate.tps is '{"label": "Rate", "unit": "tokens/s", "direction": "higher"}';
comment on column estimate.energy_per_token_j is '{"label": "Energy per token", "unit": "J", "direction": "lower"}';
comment on column estimate.energy_ratio is '{"label": "Energy per token, over the baseline''s", "unit": "×", "direction": "lower"}';
comment on column estimate.tokens_per_round is '{"label": "Tokens per round", "unit": "tokens", "direction": "higher"}';
comment on column estimate.round_cost is '{"label": "Round cost R", "unit": "baseline tokens", "direction": "lower"}';
comment on column estimate.acceptance_rate is '{"label": "Acceptance rate", "unit": "fraction", "direction": "higher"}';
comment on column estimate.sequence_acceptance is '{"label": "Sequence acceptance", "unit": "fraction", "direction": "higher"}';
comment on column estimate.fire_rate is '{"label": "Fire rate", "unit": "fraction", "direction": "higher"}';
comment on column estimate.predicted_speedup is '{"label": "Predicted speedup", "unit": "×", "direction": "higher"}';
comment on column estimate.unexplained is '{"label": "Unexplained", "unit": "fraction", "direction": "none"}';
comment on column estimate.identical is '{"label": "Identical outputs", "unit": "prompts", "direction": "higher"}';
comment on column estimate.diverged_near_tie is '{"label": "Parted at a near-tie", "unit": "prompts", "direction": "lower"}';
comment on column estimate.diverged is '{"label": "Parted clearly", "unit": "prompts", "direction": "lower"}';
comment on column estimate.not_compared is '{"label": "Not compared", "unit": "prompts", "direction": "lower"}';
