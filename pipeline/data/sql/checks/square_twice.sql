-- One row is one square of the map that is there more than once.
select choice, shown, device, size_class, backend, task, count(*) as squares
from map_square
group by all
having count(*) > 1;
