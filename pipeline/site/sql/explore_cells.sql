-- One row is one cell as the page Explore lists it, what is certainly fastest first.
select *
from explore
order by task = 'all', interval_low desc nulls last, speedup desc nulls last, cell;
