-- One row is one cell of one voter with both predictions of it: the hundred that are furthest
-- off, of so many `cells`; `advised_cells` could be predicted from other machines.
select
  *,
  count(*) over () as cells,
  count(advised_error) over () as advised_cells
from advice_prediction
order by greatest(coalesce(advised_error, 0), abs(coalesce(unexplained, 0))) desc, observation
limit 100;
