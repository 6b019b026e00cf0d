-- One row is one device on which a target ran: a GPU with its memory size, or a processor.
create table device as
with placed as (
  select *, known or not bool_or(known) over (partition by device) as decides
  from setup
  where counted
)
select
  device,
  any_value(device_label order by submission) filter (decides) as device_label,
  any_value(device_name order by submission) filter (decides) as device_name,
  any_value(device_kind order by submission) filter (decides) as device_kind,
  any_value(vram_gib order by submission) filter (decides) as vram_gib,
  list(distinct backend order by backend) as backends,
  list(distinct target order by target) as targets,
  count(*) as submissions,
  count(distinct rig) as rigs,
  count(distinct contributor) as contributors,
  max(measured_from) as last_measured
from placed
group by device
order by device;
