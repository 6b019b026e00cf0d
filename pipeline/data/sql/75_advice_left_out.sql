-- One row is what the others say about one part (cost or yield) of one observation: the nearest pool
-- that anybody but its own voter has a vote in, with that voter taken out.
create table advice_left_out as
with others as (
  select
    member.observation,
    member.part,
    member.level,
    member.level_order,
    member.method,
    member.voter,
    pool.votes - 1 as votes,
    (pool.votes * pool.mean_log - vote.mean_log) / (pool.votes - 1) as mean_log
  from advice_member as member
  join advice_vote as vote using (advice_pool, voter)
  join advice_pool as pool using (advice_pool)
  where pool.votes > 1
  qualify row_number() over (
    partition by member.observation, member.part order by member.level_order
  ) = 1
)
select
  others.observation,
  others.part,
  others.level,
  others.votes,
  others.mean_log,
  spread.freedom,
  spread.variance
from others
left join advice_spread as spread
  on spread.left_out = others.voter
  and spread.level = others.level
  and spread.method = others.method
order by others.observation, others.part;
