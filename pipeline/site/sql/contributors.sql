-- One row is one contributor with counted results, with their devices and models; the name is the
-- name in the newest result. `anonymous` is the number of counted results without a name.
with counted as (
  select
    lower(contributor) as contributor,
    arg_max(contributor, measured_from) as handle,
    count(*) as submissions,
    list(distinct device_label order by device_label) as devices,
    list(distinct target_label order by target_label) as targets,
    max(measured_from) as last_measured
  from setup
  where counted and contributor is not null and tier = 'measured'
  group by lower(contributor)
)
select
  *,
  (
    select count(*) from setup where counted and contributor is null and tier = 'measured'
  ) as anonymous
from counted
order by len(devices) * len(targets) desc, last_measured desc, contributor;
