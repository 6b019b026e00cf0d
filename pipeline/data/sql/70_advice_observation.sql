-- One row is one observation that the advisor learns from: what one voter, a contributor, measured
-- with one setting on one task. Only measured evidence without a serious flag; over several
-- machines and submissions of the voter the mean of the logarithms. Other engines than llama.cpp
-- are left out: they have other costs; arms whose depth varies, too: their costs are of no one
-- depth. `bytes_cost` is what a round costs by the bytes that it reads, in steps of the target: 1,
-- and for each drafted token the draft model's bytes over those of the target's step. 1 where
-- nothing but the target is read, or where a size is unknown. `mixture`: a token uses only some of
-- the target's experts.
create table advice_observation as
with read as (
  select
    submission,
    arm.arm,
    arm.depth,
    coalesce(submission.active_parameters < submission.parameters, false) as mixture,
    step_bytes(submission.file_bytes, submission.parameters, submission.active_parameters)
      as step_bytes,
    step_bytes(draft.file_bytes, draft.parameters, draft.active_parameters) as draft_bytes
  from arm
  join submission using (submission)
  left join draft using (submission, draft)
),
measured as (
  select
    pool as cell,
    coalesce(lower(contributor), 'anonymous') as voter,
    pool_member.* exclude (voter),
    coalesce(1 + read.depth * draft_bytes / step_bytes, 1) as bytes_cost,
    mixture,
    step_bytes,
    draft_bytes
  from pool_member
  left join read using (submission, arm)
  where tier = 'measured' and task <> 'all' and concurrency = 1
    and conditions is null and varied_by is null
    and engine_name = 'llama.cpp' and speedup > 0 and tokens_per_round > 0 and round_cost > 0
    and trust_in(verdict, doubt) > 0
)
select
  cell || '@' || voter as observation,
  cell,
  voter,
  any_value(device) as device,
  any_value(device_label order by submission) as device_label,
  any_value(vram_gib) as vram_gib,
  any_value(backend) as backend,
  any_value(target) as target,
  any_value(target_label order by submission) as target_label,
  any_value(quantisation order by submission) as quantisation,
  any_value(size_class order by submission) as size_class,
  any_value(size_order order by submission) as size_order,
  any_value(method order by submission) as method,
  any_value(method_label order by submission) as method_label,
  any_value(depth) as depth,
  any_value(draft_label order by submission) as draft_label,
  coalesce(any_value(draft_slug order by submission), 'no-draft') as draft_slug,
  any_value(quantisation_slug order by submission) as quantisation_slug,
  drafts_always(any_value(method order by submission)) as drafts_always,
  any_value(task) as task,
  exp(avg(ln(speedup))) as speedup,
  exp(avg(ln(tokens_per_round))) as tokens_per_round,
  exp(avg(ln(round_cost))) as round_cost,
  exp(avg(ln(bytes_cost))) as bytes_cost,
  coalesce(bool_or(mixture), false) as mixture,
  any_value(step_bytes order by submission) as step_bytes,
  any_value(draft_bytes order by submission) as draft_bytes,
  exp(avg(ln(predicted_speedup)) filter (predicted_speedup > 0)) as predicted_speedup,
  list(submission order by measured_from desc, submission) as submission_list
from measured
group by cell, voter
order by observation;
