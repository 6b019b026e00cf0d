-- One row is one measured square of the map with its best setting: the same that the home page shows.
select *
from map_square
where tier = 'measured' and choice = 'all' and shown = 'best'
order by device, task_order(task), backend, size_order;
