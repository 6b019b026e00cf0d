-- One row is one pool of comparable evidence: the median over votes, with its interval and verdict.
-- `confirmed`: two contributors whom maintainers know support it, so that nobody confirms alone.
-- `interval_kind`: one-contributor = one vote, so its own interval widened by what contributors
-- differ by; t = t interval on log means (2 to 7 votes), in a cell with the spread between
-- contributors that all cells show; order = order statistics of the median (8 or more); null = none.
create table pool as
with voted as (
  select
    pool,
    count(*) as votes,
    count(*) filter (known and voter <> 'anonymous') as known_votes,
    exp(median(ln(speedup))) as speedup,
    median(baseline_tps) as baseline_tps,
    median(tps) as tps,
    median(tokens_per_round) as tokens_per_round,
    median(round_cost) as round_cost,
    median(acceptance_rate) as acceptance_rate,
    median(sequence_acceptance) as sequence_acceptance,
    median(fire_rate) as fire_rate,
    median(predicted_speedup) as predicted_speedup
  from vote
  left join contributor on contributor.contributor = vote.voter
  group by pool
),
counted as (
  select
    pool,
    any_value(pool_kind) as pool_kind,
    len(list(distinct submission order by submission)) as submissions,
    count(distinct submission) filter (profile = 'quick') as quick_submissions,
    count(distinct submission) filter (preview) as preview_submissions,
    count(distinct rig) as rigs,
    count(distinct contributor) as contributors,
    sum(prompts)::bigint as prompts,
    sum(trials)::bigint as trials,
    sum(failed_trials)::bigint as failed_trials,
    sum(identical)::bigint as identical,
    sum(diverged_near_tie)::bigint as diverged_near_tie,
    sum(diverged)::bigint as diverged,
    sum(not_compared)::bigint as not_compared,
    list(distinct submission order by submission) as submission_list,
    max(measured_from) as last_measured,
    bool_and(verdict = 'never-drafted') as never_drafted,
    bool_or(verdict = 'too-few-prompts') as too_few,
    bool_or(is_firm(verdict)) as firm,
    bool_or(verdict = 'uncertain') as uncertain
  from pool_member
  group by pool
),
judged as (
  select
    counted.pool,
    counted.pool_kind,
    voted.speedup,
    pool_interval.interval_low,
    pool_interval.interval_high,
    pool_interval.interval_kind,
    pool_interval.contributor_spread,
    case
      when never_drafted then 'never-drafted'
      when voted.speedup is null then if(too_few, 'too-few-prompts', 'failed')
      when not firm and uncertain then 'uncertain'
      when not firm and too_few then 'too-few-prompts'
      when not firm then 'never-drafted'
      else verdict_of(pool_interval.interval_low, pool_interval.interval_high)
    end as verdict,
    firm and coalesce(voted.known_votes, 0) >= 2 as confirmed,
    coalesce(voted.votes, 0) as votes,
    counted.* exclude (pool, pool_kind, never_drafted, too_few, firm, uncertain),
    voted.* exclude (pool, votes, known_votes, speedup)
  from counted
  left join voted using (pool)
  left join pool_interval using (pool)
)
select *, mark_of(verdict, confirmed) as mark
from judged
order by pool_kind, pool;
