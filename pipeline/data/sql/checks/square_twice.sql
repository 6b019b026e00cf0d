-- One row is one square of the map that is there more than once.
select device, size_class, backend, task, tier, count(*) as squares
from map_cell
group by all
having count(*) > 1;
