-- One row is one rig: a machine with one engine build and one backend.
create table rig as
with placed as (
  select
    setup.*,
    submission.os_family,
    submission.cpu_name,
    submission.cpu_logical_cores,
    submission.ram_mib
  from setup
  join submission using (submission)
  where counted
)
select
  rig,
  any_value(rig_label order by submission) as rig_label,
  any_value(machine order by submission) as machine,
  any_value(device order by submission) as device,
  any_value(device_label order by submission) as device_label,
  any_value(device_kind order by submission) as device_kind,
  any_value(vram_gib order by submission) as vram_gib,
  any_value(backend order by submission) as backend,
  any_value(runner order by submission) as runner,
  any_value(engine_build order by submission) as engine_build,
  any_value(os_family order by submission) as os_family,
  any_value(cpu_name order by submission) as cpu_name,
  any_value(cpu_logical_cores order by submission) as cpu_logical_cores,
  any_value(ram_mib order by submission) as ram_mib,
  count(*) as submissions,
  count(distinct contributor) as contributors,
  min(measured_from) as first_measured,
  max(measured_from) as last_measured
from placed
group by rig
order by rig;
