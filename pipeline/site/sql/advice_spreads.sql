-- One row is how much voters of one level and method differ, over all voters, widened so that as
-- many left-out predictions fall into an interval as it promises.
select
  advice_spread.level,
  advice_spread.method,
  advice_spread.freedom,
  advice_spread.variance
    * (coalesce(part.widening, 1.0::double) * coalesce(whole.widening, 1.0::double)) ** 2
    as widened_variance
from advice_spread
left join advice_level_widening as part
  on part.left_out is null
  and part.level = advice_spread.level
  and part.method = advice_spread.method
left join advice_widening as whole
  on whole.left_out is null and whole.method = advice_spread.method
where advice_spread.left_out is null
order by advice_spread.rowid;
