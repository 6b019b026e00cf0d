-- One row is one cell whose evidence does not share tier, backend, task, depth, concurrency,
-- conditions or suite.
select pool
from pool_member
group by pool
having count(distinct row(
  tier, backend, task, depth, concurrency, method, coalesce(conditions, ''),
  coalesce(suite_label, '')
)) > 1;
