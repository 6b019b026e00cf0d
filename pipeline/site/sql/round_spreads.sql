-- One row is how much the cost of a round differs between pairs of models in one kind of place, with
-- one method or with any, and how much the tokens of a round of the same models do between those who
-- measured them: variances of logarithms.
with costs as (
  select level, method, sum(squares) / sum(votes - 1) as variance, sum(votes - 1)::bigint as freedom
  from round_pool
  where votes > 1
  group by level, method
),
yields as (
  select
    'yield-published' as level,
    'any' as method,
    sum(variance * freedom) / sum(freedom) as variance,
    sum(freedom)::bigint as freedom
  from advice_spread
  where level = 'yield-pair' and left_out is null
  having count(*) > 0
)
select * from costs where variance > 0
union all
select * from yields where variance > 0
order by level, method;
