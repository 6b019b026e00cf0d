-- One row is one trial of an example on the page "Why is it slower?". They belong to the slowest
-- and the fastest counted arm with counters that ran each prompt once, and to the baselines of
-- these two arms, in the order of the prompts.
with arms as (
  select
    evidence.*,
    any_value(baseline.arm) as baseline_arm
  from evidence
  join arm as baseline
    on baseline.submission = evidence.submission and baseline.role = 'baseline'
  where evidence.counted and evidence.role = 'speculation' and evidence.task in ('all', 'own')
    and evidence.tokens_per_round is not null and evidence.acceptance_rate is not null
  group by all
),
asked as (
  select submission, arm, max(block) = 0 and count(*) <= 40 as brief
  from trial
  group by submission, arm
),
chosen as (
  select arms.*, 'slowest' as example from arms
  join asked using (submission, arm) where brief
  qualify row_number() over (order by known desc, speedup, submission, arms.arm) = 1
  union all
  select arms.*, 'fastest' as example from arms
  join asked using (submission, arm) where brief
  qualify row_number() over (order by known desc, speedup desc, submission, arms.arm) = 1
)
select
  chosen.example,
  chosen.submission,
  chosen.tier,
  chosen.device_label,
  chosen.backend,
  chosen.target_label,
  chosen.quantisation,
  chosen.method_label,
  chosen.depth,
  chosen.speedup,
  trial.arm = chosen.baseline_arm as plain,
  trial.output_tokens as predicted_n,
  trial.decode_ms as predicted_ms,
  trial.drafted as draft_n,
  trial.accepted as draft_n_accepted
from chosen
join trial
  on trial.submission = chosen.submission and trial.arm in (chosen.arm, chosen.baseline_arm)
where trial.outcome = 'ok'
order by chosen.example desc, plain desc, trial.prompt;
