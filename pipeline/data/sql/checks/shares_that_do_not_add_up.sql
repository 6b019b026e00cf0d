-- One row is one tier whose verdicts do not add up to its cells.
select tier, cells
from headline
where helping_cells + losing_cells + unclear_cells + failed_cells <> cells;
