-- One row is where one submission ran: its device, rig, target and settings, under display names.
-- `device` are the GPUs that the engine lists (else all of the machine) with their memory for GPU
-- backends, else the processor with its threads: two virtual machines share a processor's name but
-- not its speed. `vram_gib` is the memory of all those GPUs together.
create table setup as
with listed as (
  select
    submission,
    nullif(len(list_filter(document.engine.devices, lambda each: each.kind = 'gpu')), 0) as gpus
  from submission_document
),
used as (
  select
    gpu.submission,
    count(*) as cards,
    sum(gpu.vram_mib)::bigint as vram_mib,
    max(gpu.vram_mib) as card_vram_mib,
    min(gpu.name) = max(gpu.name) as alike,
    any_value(gpu.name order by gpu.position) as gpu_name,
    string_agg(short_name(gpu.name), ' + ' order by gpu.position) as gpu_names
  from gpu
  join listed using (submission)
  where gpu.position <= coalesce(listed.gpus, gpu.position)
  group by gpu.submission
),
placed as (
  select
    submission.*,
    used.gpu_name,
    used.vram_mib,
    used.cards,
    if(used.alike, used.card_vram_mib, used.vram_mib) as shown_vram_mib,
    if(used.alike, used.cards || ' × ' || short_name(used.gpu_name), used.gpu_names) as several,
    standing.standing,
    standing.counted,
    submission.backend <> 'cpu' and used.gpu_name is not null as on_gpu
  from submission
  join standing using (submission)
  left join used using (submission)
),
named as (
  select
    *,
    if(on_gpu, 'gpu', 'cpu') as device_kind,
    coalesce(
      if(on_gpu and cards > 1, several, null),
      nullif(short_name(if(on_gpu, gpu_name, cpu_name)), ''),
      if(on_gpu, gpu_name, cpu_name),
      'unknown processor'
    ) as device_name,
    if(on_gpu, round(vram_mib / 1024)::bigint, null) as vram_gib,
    if(on_gpu, round(shown_vram_mib / 1024)::bigint, null) as shown_vram_gib,
    concat_ws(' ', engine_name, coalesce('b' || build_number, engine_version)) as engine_build,
    md5(concat_ws('|', os_family, cpu_name, cpu_logical_cores, ram_mib, gpu_name, vram_mib))[:8]
      as machine
  from placed
),
labelled as (
  select
    *,
    case
      when shown_vram_gib is not null then device_name || ' ' || shown_vram_gib || ' GB'
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
