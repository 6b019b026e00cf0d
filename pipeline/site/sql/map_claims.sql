-- One row is the best measured setting of one choice of the home page's map, over all its squares.
select *
from best
where place = 'map' and tier = 'measured'
order by scope;
