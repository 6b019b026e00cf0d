-- One row is one cell whose evidence does not share backend, task, depth or concurrency.
select pool
from pool_member
where pool_kind = 'cell'
group by pool
having count(distinct (backend, task, depth, concurrency, method)) > 1;
