-- One row is how many times as wide as its levels say an interval of a method must be, so that 95 %
-- of the left-out predictions fall into it. `left_out` is null, or the fold of voters whose
-- predictions were not looked at, so that how often intervals hold is judged on voters who did not
-- widen them.
-- `widenings` reads `scored` by its name.
create table advice_widening as
with scored as ( -- noqa: ST03
  select fold, voter, 'both' as level, method, score from advice_score
)
select left_out, method, widening from widenings('scored', 0.5, 1);
