-- One row is one arm with one number of requests in flight: over all tasks, or imported, of a suite
-- with tasks of its own, task by task.
select * from concurrency_view
where task = 'all' or tier <> 'measured'
order by tier desc, series, task_order(task), concurrency;
