-- One row is one vote in one pool: all evidence of one contributor, as one figure. Evidence that
-- supports no verdict votes only where there is no other, evidence under a serious flag only where
-- all of it is; then there is a figure and no verdict. Whoever names nobody shares one vote, and
-- machines cast none: anybody can make up a machine, not an account.
-- A vote's speedup is the geometric mean over its machines, each the geometric mean of its files.
-- `half_width` is the root mean square of the files' own intervals, as a logarithm: the files
-- answered the same prompts, so that more of them do not narrow it; `deviation` is the standard
-- deviation of their figures, as a logarithm.
create table vote as
with cast_votes as (
  select
    * exclude (voter),
    coalesce(lower(contributor), 'anonymous') as voter,
    ln(interval_high / interval_low) / 2 as own_half_width
  from pool_member
  where speedup is not null and speedup > 0
  qualify trust_in(verdict, doubt) = max(trust_in(verdict, doubt)) over (partition by pool)
),
by_machine as (
  select
    pool_kind, pool, tier, voter, machine,
    count(*) as files,
    sum(ln(speedup)) as summed,
    sum(ln(speedup) ** 2) as summed_squares,
    min(prompts) as prompts,
    min(task) as task,
    avg(own_half_width ** 2) as squared,
    avg(ln(speedup)) as speedup,
    avg(ln(baseline_tps)) as baseline_tps,
    avg(ln(tps)) as tps,
    avg(tokens_per_round) as tokens_per_round,
    avg(round_cost) as round_cost,
    avg(acceptance_rate) as acceptance_rate,
    avg(sequence_acceptance) as sequence_acceptance,
    avg(fire_rate) as fire_rate,
    avg(predicted_speedup) as predicted_speedup
  from cast_votes
  group by all
)
select
  pool,
  voter,
  pool_kind = 'cell' as cell,
  tier,
  min(task) = 'all' as shared,
  count(*) as machines,
  sum(files)::bigint as files,
  min(prompts) as prompts,
  exp(avg(speedup)) as speedup,
  sqrt(avg(squared)) as half_width,
  if(
    sum(files) > 1,
    sqrt(greatest(0, sum(summed_squares) - sum(summed) ** 2 / sum(files)) / (sum(files) - 1)),
    null
  ) as deviation,
  exp(avg(baseline_tps)) as baseline_tps,
  exp(avg(tps)) as tps,
  avg(tokens_per_round) as tokens_per_round,
  avg(round_cost) as round_cost,
  avg(acceptance_rate) as acceptance_rate,
  avg(sequence_acceptance) as sequence_acceptance,
  avg(fire_rate) as fire_rate,
  avg(predicted_speedup) as predicted_speedup
from by_machine
group by pool_kind, pool, tier, voter
order by pool, voter;
