-- One row is one setting under one engine build; `once` counts the settings
-- with a single build.
select *, count(*) filter (builds = 1) over () as once from build_step order by rowid;
