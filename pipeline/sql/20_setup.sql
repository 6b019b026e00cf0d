-- One row is where one submission ran: its device, rig, target and settings, under display names.
-- `device` is the first GPU with its memory for GPU backends, else the processor with its threads:
-- two virtual machines share a processor's name but not its speed.
create table setup as
with placed as (
  select
    submission.*,
    gpu.name as gpu_name,
    gpu.vram_mib,
    standing.standing,
    standing.counted,
    submission.backend <> 'cpu' and gpu.name is not null as on_gpu
  from submission
  join standing using (submission)
  left join gpu on gpu.submission = submission.submission and gpu.position = 1
),
named as (
  select
    *,
    if(on_gpu, 'gpu', 'cpu') as device_kind,
    coalesce(
      nullif(short_name(if(on_gpu, gpu_name, cpu_name)), ''),
      if(on_gpu, gpu_name, cpu_name),
      'unknown processor'
    ) as device_name,
    if(on_gpu, round(vram_mib / 1024)::bigint, null) as vram_gib,
    concat_ws(' ', engine_name, coalesce('b' || build_number, engine_version)) as engine_build,
    md5(concat_ws('|', os_family, cpu_name, cpu_logical_cores, ram_mib, gpu_name, vram_mib))[:8]
      as machine
  from placed
),
labelled as (
  select
    *,
    case
      when vram_gib is not null then device_name || ' ' || vram_gib || ' GB'
      when on_gpu or cpu_logical_cores is null then device_name
      else device_name || ' ' || cpu_logical_cores || ' threads'
    end as device_label
  from named
)
select
  submission,
  tier,
  preview,
  standing,
  counted,
  profile,
  contributor,
  coalesce(contributor, 'anonymous') || '@' || machine as voter,
  machine,
  slug(device_label) || '-' || backend || '-'
    || md5(concat_ws('|', machine, runner, engine_name, engine_version, package_version,
      engine_commit, build_number, backend))[:8] as rig,
  concat_ws(' · ', device_label, backend, engine_build) as rig_label,
  slug(device_label) as device,
  device_label,
  device_name,
  device_kind,
  vram_gib,
  backend,
  runner,
  engine_name,
  engine_label(runner, engine_name) as engine_label,
  engine_build,
  slug(target_name) as target,
  target_name as target_label,
  quantisation,
  parameters,
  active_parameters,
  parameters_label(parameters)
    || coalesce(' (' || parameters_label(nullif(active_parameters, parameters)) || ' active)', '')
    as parameters_label,
  size_class(parameters) as size_class,
  size_order(parameters) as size_order,
  measured_from,
  measured_until
from labelled
order by submission;
comment on column setup.vram_gib is '{"label": "Video memory", "unit": "GiB", "direction": "none"}';
comment on column setup.size_order is '{"label": "Order of the size class", "unit": "rank", "direction": "none"}';
