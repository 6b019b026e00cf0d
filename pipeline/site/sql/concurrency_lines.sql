-- One row is one measured arm with one number of requests in flight, over all tasks.
select * from concurrency_view where tier = 'measured' and task = 'all' order by series, concurrency;
