-- One row is one tier in which the counts of verdicts do not add up to the
-- number of cells.
select tier, cells
from headline
where helping_cells + losing_cells + unclear_cells + failed_cells <> cells;
