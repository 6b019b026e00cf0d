-- One row is how much voters differ within the pools of one level and method: the pooled variance
-- of their logarithms, with its degrees of freedom. A voter's tasks are not independent, so the
-- degrees of freedom never exceed the number of voters less one. `left_out` is null, or the voter
-- whose votes were taken out first. A level without two voters who differ in any pool borrows from
-- the next wider level, where voters differ more (`from_level`); without that it has no row.
create table advice_spread as
with shared as (
  select advice_vote.level, advice_vote.method, count(distinct voter) as voters
  from advice_vote
  join advice_pool using (advice_pool)
  where votes > 1
  group by advice_vote.level, advice_vote.method
),
pooled as (
  select
    level,
    method,
    any_value(voters) as voters,
    sum(squares) as squares,
    sum(votes - 1)::bigint as freedom
  from advice_pool
  join shared using (level, method)
  group by level, method
),
taken as (
  select
    advice_vote.level,
    advice_vote.method,
    advice_vote.voter,
    sum((advice_vote.mean_log - advice_pool.mean_log) ** 2 * votes / (votes - 1)) as squares,
    count(*) as freedom
  from advice_vote
  join advice_pool using (advice_pool)
  where votes > 1
  group by advice_vote.level, advice_vote.method, advice_vote.voter
),
voters as (
  select distinct voter from advice_vote
),
without as (
  select
    voters.voter as left_out,
    pooled.level,
    pooled.method,
    pooled.voters - if(taken.freedom is null, 0, 1) as voters,
    -- What is left of equal squares is no spread, but the rounding of a difference.
    if(
      pooled.squares - coalesce(taken.squares, 0) > 1e-9 * pooled.squares,
      pooled.squares - coalesce(taken.squares, 0),
      0
    ) as squares,
    pooled.freedom - coalesce(taken.freedom, 0) as freedom
  from voters
  cross join pooled
  left join taken
    on taken.voter = voters.voter and taken.level = pooled.level and taken.method = pooled.method
),
estimated as (
  select null as left_out, level, method, voters, squares, freedom from pooled
  union all
  select * from without
),
usable as (
  select
    left_out,
    level,
    method,
    least(freedom, voters - 1)::bigint as freedom,
    (squares / freedom)::double as variance
  from estimated
  where freedom > 0 and voters > 1 and squares > 0
),
levels as (
  select distinct part, level, level_order, method from advice_member
)
select
  usable.left_out,
  levels.level,
  levels.method,
  usable.level as from_level,
  usable.freedom,
  usable.variance
from levels
join levels as wider
  on wider.part = levels.part and wider.method = levels.method
  and wider.level_order >= levels.level_order
join usable on usable.level = wider.level and usable.method = wider.method
qualify row_number() over (
  partition by usable.left_out, levels.level, levels.method order by wider.level_order
) = 1
order by levels.level, levels.method, usable.left_out nulls first;
