-- One row is how wrong the advisor was on today's data for one kind of prediction (from where the
-- round cost and the tokens per round came), each voter predicted from the others; levels are null
-- over all kinds. `held` is the share of intervals that contain what was measured.
create table advice_error as
select
  cost_level,
  yield_level,
  count(*) as predictions,
  count(distinct voter) as voters,
  median(advised_error) as median_error,
  quantile_cont(advised_error, 0.9) as high_error,
  count(advised_holds) as with_interval,
  count(*) filter (advised_holds) / nullif(count(advised_holds), 0) as held
from advice_prediction
where advised_speedup is not null
group by grouping sets ((cost_level, yield_level), ())
having count(*) > 0
order by cost_level nulls first, yield_level;
