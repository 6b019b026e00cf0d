-- One row is one arm over all tasks, measured on one device through two backends, those that differ
-- most first, and of so many the first 250. `pairs` counts such pairs over single tasks too; `opposed` those of them in which
-- speculation clearly helps through one backend and clearly hurts through the other.
select
  *,
  count(*) over () as pairs,
  count(*) filter (
    first_verdict in ('helps', 'hurts') and second_verdict in ('helps', 'hurts')
    and first_verdict <> second_verdict
  ) over () as opposed
from backend_pair
where tier = 'measured'
qualify task = 'all'
order by rowid
limit 250;
