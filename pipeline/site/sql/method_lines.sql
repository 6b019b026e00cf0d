-- One row is one measured method at one depth on one task, over all devices and targets, by task.
select * from method_view where tier = 'measured' order by task_order(task), method, depth;
