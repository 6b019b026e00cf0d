-- One row is how much the cost of a round differs between pairs of models in one kind of place, with
-- one method or with any, and how much the tokens of a round of the same models do between those who
-- measured them: variances of logarithms. The depths of a pair and the methods of a voter are not
-- independent, so that the degrees of freedom are those of one depth and of one method.
with depths as (
  select level, method, depth, sum(squares) as squares, sum(votes - 1)::bigint as freedom
  from round_pool
  where votes > 1
  group by level, method, depth
),
costs as (
  select level, method, sum(squares) / sum(freedom) as variance, max(freedom) as freedom
  from depths
  group by level, method
),
yields as (
  select
    'yield-published' as level,
    'any' as method,
    sum(variance * freedom) / sum(freedom) as variance,
    max(freedom) as freedom
  from advice_spread
  where level = 'yield-pair' and left_out is null
  having count(*) > 0
)
select * from costs where variance > 0
union all
select * from yields where variance > 0
order by level, method;
