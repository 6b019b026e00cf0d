-- One row is one row of a public source: a configuration and its place in the
-- source. Rows of a document that no maintainer checked have no `checked_by`.
create table stated_row as
with listed as (
  select
    file,
    document.source as source,
    document.rigs as rigs,
    document.transcribed_on as transcribed_on,
    document.checked_by as checked_by,
    document.reported_by as reported_by,
    unnest(document.rows) as entry,
    generate_subscripts(document.rows, 1) as position
  from published_document
),
placed as (
  select *, list_filter(rigs, lambda candidate: candidate.id = entry.rig)[1] as rig
  from listed
)
select
  source.id as source,
  entry.id as row_id,
  position,
  file,
  source.title as source_title,
  source.publisher,
  source.published_on,
  source.url,
  source.author,
  source.licence as source_licence,
  source.commit as source_commit,
  transcribed_on,
  checked_by,
  reported_by,
  entry.place,
  entry.kind,
  entry.rig as rig,
  rig.device as device_kind,
  coalesce(rig.gpu, rig.cpu) as device_label,
  rig.gpu,
  rig.gpu_vram_mib as vram_mib,
  coalesce(list_transform(rig.gpus, lambda each: each.name), []) as gpus,
  rig.gpu_driver as driver,
  rig.gpu_power_limit_w as power_limit_w,
  rig.unified_memory,
  rig.cpu,
  rig.ram_gib,
  entry.engine.name as engine_name,
  entry.engine.version as engine_version,
  entry.engine.commit as engine_commit,
  entry.engine.backend,
  model_name(entry.target.name) as target_name,
  entry.target.architecture as target_architecture,
  entry.target.quantisation,
  entry.target.parameters_b,
  entry.target.active_parameters_b,
  entry.target.file_gb,
  model_name(entry.draft.name) as draft_name,
  entry.draft.quantisation as draft_quantisation,
  entry.draft.parameters_b as draft_parameters_b,
  entry.draft.file_gb as draft_file_gb,
  entry.method,
  speculation_label(entry.method) as method_label,
  entry.n_max as depth,
  entry.p_min,
  entry.contributor,
  entry.contributor_url,
  -- In a thread, or a digest of several threads, each row has an address and a
  -- date.
  coalesce(entry.url, source.url) as row_url,
  coalesce(entry.date, source.published_on::varchar) as row_date,
  coalesce(entry.doubts, []) as doubts,
  entry.task,
  unnest(entry.placement),
  unnest(entry.settings),
  entry.baseline_row,
  coalesce(entry.also_differs, []) as also_differs,
  entry.outcome,
  entry.note
from placed
order by source, position;
