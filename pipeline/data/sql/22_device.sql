-- One row is one device on which a target ran: a GPU with its memory size, or a processor.
create table device as
with placed as (
  select *, known or not bool_or(known) over (partition by device) as decides
  from setup
  where counted
)
select
  device,
  any_value(columns(['device_label', 'device_name', 'device_kind', 'vram_gib']) order by submission)
    filter (decides),
  list(distinct backend order by backend) as backends,
  list(distinct target order by target) as targets,
  count(*) as submissions,
  count(distinct rig) as rigs,
  count(distinct contributor) as contributors,
  max(measured_from) as last_measured
from placed
group by device
order by device;
