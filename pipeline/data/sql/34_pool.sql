-- One row is one pool of comparable evidence: the median over votes, with its intervals and
-- verdict. `baseline_tps` is the median over votes, `tps` is plain x speedup, and `round_cost` is
-- `tokens_per_round` over the speedup, so that all of them divide.
-- `confirmed`: contributors whom maintainers know, at least two of them, show the same sign by
-- themselves, so that nobody confirms alone. `slower_request`: all files agree that whole requests
-- are clearly slower, as measured or as stated. A pool of one file claims nothing that the file
-- does not. A cell whose engine builds differ by more than contributors do differs by build: the
-- range of their medians is more than twice the spread times the root of their number, so that two
-- contributors with a build each seldom seem to differ by build.
-- `interval_kind`: one-contributor = one vote, so its own interval widened by what contributors
-- differ by; t = t interval on log means (2 to 7 votes), in a cell with the spread between
-- contributors that all cells show; order = order statistics of the median (8 or more);
-- null = none.
create table pool as
with voted as (
  select
    pool,
    count(*) filter (measure = 'speedup') as votes,
    median(ratio) filter (measure = 'speedup') as speedup,
    median(ratio) filter (measure = 'stated_request') as stated_request,
    median(baseline_tps) filter (measure = 'speedup') as baseline_tps,
    median(tokens_per_round) filter (measure = 'speedup') as tokens_per_round,
    median(acceptance_rate) filter (measure = 'speedup') as acceptance_rate,
    median(sequence_acceptance) filter (measure = 'speedup') as sequence_acceptance,
    median(fire_rate) filter (measure = 'speedup') as fire_rate,
    median(predicted_speedup) filter (measure = 'speedup') as predicted_speedup
  from vote
  group by pool
),
counted as (
  select
    pool,
    len(list(distinct submission order by submission)) as submissions,
    count(distinct submission) filter (profile = 'quick') as quick_submissions,
    count(distinct submission) filter (preview) as preview_submissions,
    count(distinct rig) as rigs,
    count(distinct contributor) as contributors,
    sum(prompts)::bigint as prompts,
    sum(trials)::bigint as trials,
    sum(failed_trials)::bigint as failed_trials,
    bool_or(at_most) as at_most,
    sum(identical)::bigint as identical,
    sum(diverged_near_tie)::bigint as diverged_near_tie,
    sum(diverged)::bigint as diverged,
    sum(not_compared)::bigint as not_compared,
    list(distinct submission order by submission) as submission_list,
    max(measured_from) as last_measured,
    bool_and(verdict = 'never-drafted') as never_drafted,
    bool_or(verdict = 'too-few-prompts') as too_few,
    count(*) filter (has_verdict(verdict)) as with_verdict,
    any_value(verdict) filter (has_verdict(verdict)) as member_verdict,
    bool_or(verdict = 'uncertain') as uncertain,
    min(doubt) filter (verdict = 'uncertain') as doubt,
    coalesce(
      bool_and(
        coalesce(clearly_below(whole_request_low, whole_request_high), false)
          or coalesce(clearly_below(stated_request_low, stated_request_high), false)
      ) filter (has_verdict(verdict)),
      false
    ) as slower_request
  from pool_member
  group by pool
),
by_build as (
  select pool, median(ln(speedup)) as figure
  from pool_member
  where has_verdict(verdict) and speedup > 0 and engine_build is not null
  group by pool, engine_build
),
builds as (
  select pool, (max(figure) - min(figure)) / sqrt(count(*)) as build_difference
  from by_build
  group by pool
),
ranges as (
  select
    pool,
    voters,
    any_value(interval_low) filter (measure = 'speedup') as interval_low,
    any_value(interval_high) filter (measure = 'speedup') as interval_high,
    any_value(interval_kind) filter (measure = 'speedup') as interval_kind,
    any_value(contributor_spread) filter (measure = 'speedup') as contributor_spread,
    any_value(interval_low) filter (measure = 'stated_request') as stated_request_low,
    any_value(interval_high) filter (measure = 'stated_request') as stated_request_high
  from pool_interval
  group by pool, voters
),
verdicts as (
  select
    *, verdict_of(interval_low, interval_high, stated_request_low, stated_request_high) as shown
  from ranges
),
judged as (
  select
    counted.pool,
    voted.speedup,
    own.interval_low,
    own.interval_high,
    own.interval_kind,
    own.contributor_spread,
    voted.stated_request,
    own.stated_request_low,
    own.stated_request_high,
    case
      when never_drafted then 'never-drafted'
      when voted.speedup is null then if(too_few, 'too-few-prompts', 'failed')
      when with_verdict = 0 and uncertain then 'uncertain'
      when with_verdict = 0 and too_few then 'too-few-prompts'
      when with_verdict = 0 then 'never-drafted'
      when build_difference > 2 * own.contributor_spread then 'differs-by-build'
      when own.shown is null then 'too-few-prompts'
      when slower_request and own.shown = 'helps' then 'slower-in-all'
      when with_verdict = 1 and is_signed(own.shown) and member_verdict <> 'helps'
        then member_verdict
      else own.shown
    end as verdict,
    known.shown as known_verdict,
    coalesce(voted.votes, 0) as votes,
    counted.* exclude (pool, never_drafted, too_few, with_verdict, member_verdict, uncertain),
    voted.baseline_tps,
    voted.baseline_tps * voted.speedup as tps,
    voted.tokens_per_round,
    voted.tokens_per_round / voted.speedup as round_cost,
    voted.* exclude (pool, votes, speedup, stated_request, baseline_tps, tokens_per_round)
  from counted
  left join voted using (pool)
  left join builds using (pool)
  left join verdicts as own on own.pool = counted.pool and own.voters = 'all'
  left join verdicts as known on known.pool = counted.pool and known.voters = 'known'
)
select
  * exclude (known_verdict),
  is_signed(verdict) and coalesce(known_verdict = verdict, false) as confirmed,
  mark_of(verdict, confirmed) as mark
from judged
order by pool;
