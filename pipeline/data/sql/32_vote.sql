-- One row is one vote in one pool: all evidence of one contributor, as one figure. Whoever names
-- nobody shares one vote, and machines cast none: anybody can make up a machine, not an account.
-- A vote's speedup is the geometric mean of its evidence; its interval spans all of theirs.
create table vote as
select
  pool,
  coalesce(lower(contributor), 'anonymous') as voter,
  count(*) as evidence,
  exp(avg(ln(speedup))) as speedup,
  min(interval_low) as interval_low,
  max(interval_high) as interval_high,
  exp(avg(ln(baseline_tps))) as baseline_tps,
  exp(avg(ln(tps))) as tps,
  avg(tokens_per_round) as tokens_per_round,
  avg(round_cost) as round_cost,
  avg(acceptance_rate) as acceptance_rate,
  avg(sequence_acceptance) as sequence_acceptance,
  avg(fire_rate) as fire_rate,
  avg(predicted_speedup) as predicted_speedup
from pool_member
where speedup is not null and speedup > 0
group by all
order by pool, voter;
