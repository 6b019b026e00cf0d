-- One row is one pool of comparable evidence: the median over votes, with its intervals and
-- verdict. `baseline_tps` is the median over votes, `tps` is plain x speedup, and
-- `round_cost` is `tokens_per_round` over the speedup, so that the printed figures agree.
-- Only evidence that `decides` affects verdicts and figures; counts are over all evidence.
-- `confirmed`: at least two contributors whom maintainers know have the sign, so that
-- nobody confirms alone. A cell of one known voter is uncertain if three unknown accounts agree
-- on a higher, or on a lower, figure than its interval. `backing` is 0 if maintainers know a
-- voter, 1 for several unknown voters, 2 for one unknown account. `slower_request`: for more
-- than half of the voters, whole requests are clearly slower, as measured or as stated. A pool
-- of one file claims nothing that the file does not claim. A cell differs by build if its
-- engine builds differ by more than contributors do: the range of the builds' medians is more
-- than twice the spread times the root of their number. In addition, two known voters must have
-- run each build, or more than half of the voters must see the difference in their own files. A
-- known voter counts in this only with several builds. `interval_kind`: one-contributor = one
-- vote, with its own interval widened by the spread between contributors; t = t interval on log
-- means (2 to 7 votes), in a cell with the spread between contributors over all cells; order =
-- order statistics of the median (8 or more votes); null = no interval.
create table pool as
with voted as (
  select
    pool,
    count(*) filter (measure = 'speedup') as votes,
    count(*) filter (measure = 'speedup' and known) as known_votes,
    median(ratio) filter (measure = 'speedup') as speedup,
    median(ratio) filter (measure = 'stated_request') as stated_request,
    median(
      columns([
        'baseline_tps', 'tokens_per_round', 'acceptance_rate', 'fire_rate',
        'predicted_speedup'
      ])
    ) filter (measure = 'speedup')
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
    bool_or(at_most) filter (decides) as at_most,
    sum(identical)::bigint as identical,
    sum(diverged_near_tie)::bigint as diverged_near_tie,
    sum(diverged)::bigint as diverged,
    sum(not_compared)::bigint as not_compared,
    list(distinct submission order by submission) as submission_list,
    max(measured_from) as last_measured,
    bool_and(verdict = 'never-drafted') filter (decides) as never_drafted,
    bool_or(verdict = 'too-few-prompts') filter (decides) as too_few,
    count(*) filter (decides and has_verdict(verdict)) as with_verdict,
    any_value(verdict) filter (decides and has_verdict(verdict)) as member_verdict,
    bool_or(verdict = 'uncertain') filter (decides) as uncertain,
    min(doubt) filter (decides and verdict = 'uncertain') as doubt
  from pool_member
  group by pool
),
judging as (
  select *, account_of(contributor) as account
  from pool_member
  where decides and has_verdict(verdict)
),
by_build as (
  select pool, account, engine_build, any_value(known) as known, median(ln(speedup)) as figure
  from judging
  where speedup > 0 and engine_build is not null
  group by pool, account, engine_build
),
shared_builds as (
  select pool, median(figure) as figure
  from by_build
  where known
  group by pool, engine_build
  having count(*) > 1
),
own_builds as (
  select pool, account, build_difference(list(figure)) as difference
  from by_build
  group by pool, account
),
said as (
  select
    pool, account, known,
    bool_and(
      coalesce(clearly_below(whole_request_low, whole_request_high), false)
        or coalesce(clearly_below(stated_request_low, stated_request_high), false)
    ) as slower
  from judging
  group by pool, account, known
),
facts as (
  select
    pool,
    2 * count(*) filter (slower) > count(*) as slower_request,
    greatest(
      -- The highest difference that more than half of the voters reach.
      list_reverse_sort(
        list(coalesce(difference, 0)) filter (difference is not null or not known)
      )[count(*) filter (difference is not null or not known) // 2 + 1],
      (
        select build_difference(list(figure))
        from shared_builds
        where shared_builds.pool = said.pool
      )
    ) as difference
  from said
  left join own_builds using (pool, account)
  group by pool
),
ranges as (
  select
    pool,
    any_value(
      columns(['interval_low', 'interval_high', 'interval_kind', 'contributor_spread'])
    ) filter (measure = 'speedup'),
    any_value(interval_low) filter (measure = 'stated_request') as stated_request_low,
    any_value(interval_high) filter (measure = 'stated_request') as stated_request_high
  from pool_interval
  group by pool
),
verdicts as (
  select
    *, verdict_of(interval_low, interval_high, stated_request_low, stated_request_high) as shown
  from ranges
),
unheard as (
  select pool, account_of(contributor) as account, median(speedup) as speedup
  from pool_member
  where not decides and contributor is not null and has_verdict(verdict)
  group by all
),
contested as (
  select pool
  from unheard
  join ranges using (pool)
  join voted using (pool)
  where known_votes = 1
  group by pool
  having greatest(
    count(*) filter (unheard.speedup > interval_high),
    count(*) filter (unheard.speedup < interval_low)
  ) >= 3
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
      when contested.pool is not null then 'uncertain'
      when with_verdict = 0 and uncertain then 'uncertain'
      when with_verdict = 0 and too_few then 'too-few-prompts'
      when with_verdict = 0 then 'never-drafted'
      when difference > 2 * own.contributor_spread then 'differs-by-build'
      when own.shown is null then 'too-few-prompts'
      when slower_request and own.shown = 'helps' then 'slower-in-all'
      when with_verdict = 1 and is_signed(own.shown) and member_verdict <> 'helps'
        then member_verdict
      else own.shown
    end as verdict,
    coalesce(voted.votes, 0) as votes,
    coalesce(voted.known_votes, 0) as known_votes,
    case when known_votes > 0 then 0 when votes > 1 then 1 else 2 end as backing,
    coalesce(slower_request, false) as slower_request,
    if(contested.pool is not null, 'contested', doubt) as doubt,
    counted.* exclude (
      pool, never_drafted, too_few, with_verdict, member_verdict, uncertain, doubt
    ),
    voted.baseline_tps,
    voted.baseline_tps * voted.speedup as tps,
    voted.tokens_per_round,
    voted.tokens_per_round / voted.speedup as round_cost,
    voted.* exclude (
      pool, votes, known_votes, speedup, stated_request, baseline_tps, tokens_per_round
    )
  from counted
  left join voted using (pool)
  left join facts using (pool)
  left join verdicts as own using (pool)
  left join contested using (pool)
)
select
  *,
  is_signed(verdict) and known_votes > 1 as confirmed,
  mark_of(verdict, confirmed) as mark
from judged
order by pool;
