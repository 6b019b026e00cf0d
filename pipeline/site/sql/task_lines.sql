-- One row is one measured method on one task, over all devices and targets, by task.
select * from task_view where tier = 'measured' order by task_order(task), method;
