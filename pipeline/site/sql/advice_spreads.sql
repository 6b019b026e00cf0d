-- One row is how much voters of one level and method differ, over all voters, widened so that as
-- many left-out predictions fall into an interval as it promises.
select
  advice_spread.level,
  advice_spread.method,
  advice_spread.freedom,
  advice_spread.variance * coalesce(advice_widening.widening, 1.0::double) ** 2 as widened_variance
from advice_spread
left join advice_widening
  on advice_widening.left_out is null and advice_widening.method = advice_spread.method
where advice_spread.left_out is null
order by advice_spread.rowid;
