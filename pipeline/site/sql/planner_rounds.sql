-- One row is what the rounds of a method at a depth yielded and cost in published pairs that state
-- their acceptance: tokens, and plain steps with the middle half of them.
with pairs as (
  select
    method,
    depth,
    1 + depth * figure.value as tokens,
    (1 + depth * figure.value) / speedup as cost
  from published_pair
  join published_figure as figure using (source, row_id)
  where figure.quantity = 'acceptance_rate' and figure.qualifier is null and depth is not null
)
select
  method,
  depth,
  count(*) as pairs,
  median(tokens) as tokens,
  median(cost) as cost,
  quantile_cont(cost, 0.25) as low,
  quantile_cont(cost, 0.75) as high
from pairs
group by method, depth
having count(*) >= 3
order by method, depth;
