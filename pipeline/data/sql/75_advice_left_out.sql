-- One row is what the others say about one part (cost or yield) of one observation at one level:
-- the pool there, if anybody but its own voter has a vote in it, with that voter taken out.
-- `nearest`: the level that a prediction takes. `score` is how far off that is, over the half-width
-- of the level's spread for a new voter; null where no two voters share a pool. `fold` is one of
-- ten groups that a voter belongs to, for ever.
create table advice_left_out as
with folded as (
  select voter, (md5_number(voter) % 10)::bigint as fold
  from (select distinct voter from advice_vote)
),
nearest as (
  select observation, advice_member.part, min(level_order) as level_order
  from advice_member
  join advice_pool using (advice_pool)
  where votes > 1
  group by observation, advice_member.part
)
select
  member.observation,
  member.part,
  member.level,
  member.method,
  member.voter,
  folded.fold,
  member.level_order = nearest.level_order as nearest,
  pool.votes - 1 as votes,
  (pool.votes * pool.mean_log - vote.mean_log) / (pool.votes - 1) as others_log,
  spread.freedom,
  spread.variance,
  abs(member.log_value - others_log)
    / (quantile * sqrt(spread.variance * (1 + 1.0::double / (pool.votes - 1)))) as score
from advice_member as member
join nearest using (observation, part)
join folded using (voter)
join advice_vote as vote using (advice_pool, voter)
join advice_pool as pool using (advice_pool)
left join advice_spread as spread
  on spread.left_out = member.voter
  and spread.level = member.level
  and spread.method = member.method
left join input_t_quantile using (freedom)
where pool.votes > 1;
