-- One row is one setting under one engine build, of the settings with several
-- builds; without any, `once` counts the settings with a single build.
select *, count(*) over () as once
from build_step
where builds > 1 or not exists (from build_step where builds > 1)
order by rowid;
