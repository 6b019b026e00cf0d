-- One row is one trial: one generation of one arm on one prompt in one block, in running order.
create table trial as
with listed as (
  select submission, unnest(document.trials) as trial
  from submission_document
),
flat as (
  select submission, trial.* exclude ("order"), trial."order" as running_order
  from listed
)
select
  flat.submission,
  flat.running_order,
  flat.block,
  flat.arm,
  flat.prompt,
  prompt.task,
  flat.* exclude (submission, running_order, block, arm, prompt),
  flat.output_tokens / nullif(flat.decode_ms, 0) * 1000 as decode_tps
from flat
left join prompt using (submission, prompt)
order by submission, running_order;
comment on column trial.running_order is '{"label": "Position in the running order", "unit": "rank", "direction": "none"}';
comment on column trial.block is '{"label": "Block", "unit": "number", "direction": "none"}';
comment on column trial.prompt_ms is '{"label": "Prompt processing", "unit": "ms", "direction": "lower"}';
comment on column trial.output_tokens is '{"label": "Output", "unit": "tokens", "direction": "none"}';
comment on column trial.decode_ms is '{"label": "Decoding", "unit": "ms", "direction": "lower"}';
comment on column trial.draft_ms is '{"label": "Drafting", "unit": "ms", "direction": "lower"}';
comment on column trial.verify_ms is '{"label": "Verification", "unit": "ms", "direction": "lower"}';
comment on column trial.started_ms is '{"label": "Sent after the pass began", "unit": "ms", "direction": "none"}';
comment on column trial.wall_ms is '{"label": "Wall time", "unit": "ms", "direction": "lower"}';
comment on column trial.ttft_ms is '{"label": "Time to first token", "unit": "ms", "direction": "lower"}';
comment on column trial.rounds is '{"label": "Rounds", "unit": "rounds", "direction": "none"}';
comment on column trial.full_rounds is '{"label": "Rounds accepted whole", "unit": "rounds", "direction": "higher"}';
comment on column trial.drafted is '{"label": "Drafted", "unit": "tokens", "direction": "none"}';
comment on column trial.accepted is '{"label": "Accepted", "unit": "tokens", "direction": "higher"}';
comment on column trial.metrics_drafted is '{"label": "Drafted by the metrics page", "unit": "tokens", "direction": "none"}';
comment on column trial.metrics_accepted is '{"label": "Accepted by the metrics page", "unit": "tokens", "direction": "none"}';
comment on column trial.compared_tokens is '{"label": "Compared with the baseline", "unit": "tokens", "direction": "none"}';
comment on column trial.first_divergence is '{"label": "First differing token", "unit": "index", "direction": "higher"}';
comment on column trial.divergence_margin is '{"label": "Margin at the first difference", "unit": "logits", "direction": "lower"}';
comment on column trial.energy_j is '{"label": "Energy", "unit": "J", "direction": "lower"}';
comment on column trial.decode_tps is '{"label": "Decode rate", "unit": "tokens/s", "direction": "higher"}';
