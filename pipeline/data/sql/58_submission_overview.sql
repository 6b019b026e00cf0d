-- One row is one submission: its setup, a headline per speculative arm (`arms`, in the order of the
-- file), and the best arm in full from the table `best`. The best arm is one of `choices` settings,
-- with bounds and a verdict that allow for the choice. Arms that never drafted are left out.
create table submission_overview as
with arms as (
  select
    evidence.submission,
    list({
      'arm': evidence.arm,
      'method': evidence.method,
      'method_label': evidence.method_label,
      'depth': evidence.depth,
      'draft_label': evidence.draft_label,
      'speedup': evidence.speedup,
      'interval_low': evidence.interval_low,
      'interval_high': evidence.interval_high,
      'verdict': evidence.verdict,
      'tokens_per_round': evidence.tokens_per_round,
      'round_cost': evidence.round_cost,
      'acceptance_rate': evidence.acceptance_rate
    } order by arm.position) as arms,
    max(evidence.baseline_tps) as baseline_tps,
    bool_or(evidence.task = 'own') as own_tasks
  from evidence
  join arm using (submission, arm)
  where evidence.task in ('all', 'own') and evidence.role = 'speculation'
  group by evidence.submission
),
trials as (
  select submission, count(*) as trials, count(*) filter (outcome = 'failed') as failed_trials
  from trial
  group by submission
),
prompts as (
  select submission, count(*) as prompts, list(distinct task order by task) as tasks
  from prompt
  group by submission
),
flags as (
  select submission, count(*) as flags from flag group by submission
)
select
  setup.*,
  submission.file,
  coalesce(
    setup.contributor,
    (select min(author) from source where list_contains(file_digests, submission.origin_sha256)),
    submission.origin_source,
    'anonymous'
  ) as credited,
  submission.ended,
  submission.blocks_done as blocks,
  submission.suite,
  submission.suite_version,
  submission.notes,
  trials.trials,
  trials.failed_trials,
  prompts.prompts,
  prompts.tasks,
  coalesce(flags.flags, 0) as flags,
  arms.* exclude (submission),
  best.arm as best_arm,
  best.method_label as best_method_label,
  best.choices,
  best.verdict as best_verdict,
  best.speedup as best_speedup,
  best.interval_low as best_interval_low,
  best.interval_high as best_interval_high,
  best.stated_request as best_request
from setup
join submission using (submission)
left join trials using (submission)
left join prompts using (submission)
left join flags using (submission)
left join arms using (submission)
left join best on best.place = 'submission' and best.scope = setup.submission
order by submission;
