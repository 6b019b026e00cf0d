-- One row is one vote in one pool about one measure: all deciding evidence of one contributor, as
-- one figure (`ratio`) of the speedup per token or of the stated request. Evidence that supports
-- no verdict votes only if there is no other evidence. Evidence under a serious flag votes only
-- if all evidence has such a flag; the pool then has a figure but no verdict. Results without a
-- name share one vote. Machines have no vote, because machines can be invented, unlike accounts.
-- `known` is as in `evidence`. A vote is the median over the contributor's machines of the median
-- over each machine's files. `half_width` is the root mean square of the files' intervals, as a
-- logarithm: all files answered the same prompts, so more files do not narrow the interval.
create table vote as
with cast_votes as (
  select * exclude (voter), account_of(contributor) as voter
  from pool_member
  where decides and speedup is not null and speedup > 0
  qualify trust_in(verdict, doubt) = max(trust_in(verdict, doubt)) over (partition by pool)
),
measured as (
  select
    *,
    unnest([
      {'measure': 'speedup', 'ratio': speedup, 'low': interval_low, 'high': interval_high},
      {'measure': 'stated_request', 'ratio': stated_request, 'low': stated_request_low,
        'high': stated_request_high}
    ], recursive := true)
  from cast_votes
),
by_machine as (
  select
    pool, measure, tier, voter, known, machine,
    count(*) as files,
    min(prompts) as prompts,
    min(task) as task,
    avg((ln(high / low) / 2) ** 2) as squared,
    median(
      columns([
        'ratio', 'baseline_tps', 'tokens_per_round', 'acceptance_rate',
        'fire_rate', 'predicted_speedup'
      ])
    )
  from measured
  where ratio is not null
  group by all
),
by_voter as (
  select
    pool,
    measure,
    voter,
    known,
    tier,
    min(task) = 'all' as shared,
    count(*) as machines,
    sum(files)::bigint as files,
    min(prompts) as prompts,
    sqrt(avg(squared)) as half_width,
    median(
      columns([
        'ratio', 'baseline_tps', 'tokens_per_round', 'acceptance_rate',
        'fire_rate', 'predicted_speedup'
      ])
    )
  from by_machine
  group by pool, measure, tier, voter, known
)
select *
from by_voter
order by pool, measure, voter;
