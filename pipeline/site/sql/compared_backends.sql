-- One row is one measured arm on one task on one device through two backends: the thirty pairs that
-- differ most, of so many `pairs`.
select *, count(*) over () as pairs from backend_pair where tier = 'measured' order by rowid limit 30;
