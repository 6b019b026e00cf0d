-- The one row names three measured cells of single tasks, null where there is none: the fastest and
-- the slowest of those whose whole interval is clear, because a record that its own interval does
-- not support is no record, and the one with the highest figure (`top`), clear or not.
select
  max_by(placed, (speedup, cell)) filter (verdict = 'helps') as best,
  min_by(placed, (speedup, cell)) filter (verdict = 'hurts') as worst,
  max_by(placed, (speedup, cell)) as top
from cell as placed
where tier = 'measured' and task <> 'all' and speedup is not null;
