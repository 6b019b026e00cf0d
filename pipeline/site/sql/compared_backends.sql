-- One row is one arm on one task on one device through two backends, of the best tier that has any:
-- the thirty pairs that differ most, of so many `pairs`.
select *, count(*) over () as pairs
from backend_pair
where tier = (select tier from backend_pair order by tier <> 'measured' limit 1)
order by rowid
limit 30;
