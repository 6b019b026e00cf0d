-- One row is how many times as wide as its spreads say an interval of a method must be, so that 95 % of
-- the left-out predictions fall into it (split conformal prediction: Vovk, Gammerman and Shafer
-- 2005). Never less than 1. `left_out` is null, or the fold of voters whose predictions were not
-- looked at, so that how often intervals hold is judged on voters who did not widen them.
-- A method with few voters takes the wider of its own and that of all methods.
create table advice_widening as
with scored as (
  select fold, method, voter, abs(ln(speedup) - advised_log) / spread_half_width as score
  from advice_score
  where spread_half_width > 0
),
folds as (
  select distinct fold as left_out from scored
  union all
  select null
),
others as (
  select folds.left_out, scored.*
  from folds
  join scored on scored.fold is distinct from folds.left_out
),
overall as (
  select left_out, count(distinct voter) as voters, quantile_cont(score, 0.95) as widening
  from others
  group by left_out
),
by_method as (
  select left_out, method, count(distinct voter) as voters, quantile_cont(score, 0.95) as widening
  from others
  group by left_out, method
)
select
  overall.left_out,
  by_method.method,
  case
    when by_method.voters >= 10 then greatest(1.0, by_method.widening)
    when overall.voters >= 10 then greatest(1.0, by_method.widening, overall.widening)
    else 1.0
  end::double as widening
from overall
join by_method on by_method.left_out is not distinct from overall.left_out
order by by_method.method, overall.left_out nulls first;
