-- One row puts one piece of evidence about a speculative arm into one pool of comparable evidence.
-- A pool has one tier: measured and imported evidence are never mixed. A cell also has one engine
-- (runners draft and count differently), concurrency, suite and set of conditions. A figure over a
-- suite's own tasks is in no pool, because other suites have other tasks. An arm with only whole
-- requests is in no pool either, because it has no speedup. Evidence that no aggregate uses is
-- only in `evidence`. In a pool with known evidence, only the known evidence `decides`, because
-- anybody can open an account. `series` is the address of a cell without its concurrency, task and
-- tier.
create table pool_member as
with judged as (
  select
    evidence.* exclude (
      rig_label, device_name, measured_with, measured_until, baseline, role, outcome, reason,
      wall_speedup, unexplained, mean_prompt_tokens, mean_output_tokens,
      baseline_token_j, token_j,
      baseline_request_ms, request_ms, baseline_reading_ms, reading_ms, pays_from_tokens,
      pays_from_low, pays_from_high, alternative, over_alternative, over_alternative_low,
      over_alternative_high
    ),
    setting.setting,
    setting.draft as draft_slug,
    identity.quantisation as quantisation_slug,
    concat_ws('-', identity.address_stem, setting.setting) as series
  from evidence
  join identity using (submission)
  join setting using (submission, arm)
  where evidence.role = 'speculation' and evidence.counted and evidence.task <> 'own'
    and (
      evidence.speedup is not null
      or evidence.verdict in ('failed', 'never-drafted', 'too-few-prompts')
    )
),
pooled as (
  select series || '-c' || concurrency || '--' || task || '--' || tier as pool, *
  from judged
),
-- A window in place of this join takes twice as long.
looked_at as (
  select pool, bool_or(known) as by_known from pooled group by pool
)
select pool, known or not by_known as decides, pooled.* exclude (pool)
from pooled
join looked_at using (pool);
