-- One row is the summary of the counted measured files.
select
  count(*) as submissions,
  list(distinct device_label order by device_label) as devices,
  list(distinct target_label order by target_label) as targets
from submission_overview
where tier = 'measured' and counted;
