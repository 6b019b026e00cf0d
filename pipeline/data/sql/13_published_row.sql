-- One row is one row of a public source: a configuration and where in the source it stands.
create table published_row as
with listed as (
  select
    file,
    document.source as source,
    document.rigs as rigs,
    document.transcribed_on as transcribed_on,
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
  transcribed_on,
  entry.place,
  entry.kind,
  entry.rig as rig,
  rig.device as device_kind,
  coalesce(rig.gpu, rig.cpu) as device_label,
  rig.gpu,
  rig.gpu_vram_mib as vram_mib,
  rig.cpu,
  rig.ram_gib,
  entry.engine.name as engine_name,
  entry.engine.version as engine_version,
  entry.engine.backend,
  entry.target.name as target_name,
  entry.target.architecture as target_architecture,
  entry.target.quantisation,
  entry.target.parameters_b,
  entry.target.active_parameters_b,
  entry.target.file_gb,
  entry.draft.name as draft_name,
  entry.draft.quantisation as draft_quantisation,
  entry.draft.parameters_b as draft_parameters_b,
  entry.draft.file_gb as draft_file_gb,
  entry.method,
  speculation_label(entry.method) as method_label,
  entry.n_max as depth,
  entry.task,
  entry.placement.target_gpu_layers,
  entry.placement.target_layers,
  entry.placement.draft_gpu_layers,
  entry.settings.context_tokens,
  entry.settings.max_output_tokens,
  entry.settings.temperature,
  entry.settings.threads,
  entry.settings.concurrency,
  entry.settings.prompts,
  entry.baseline_row,
  entry.outcome,
  entry.note
from placed
order by source, position;
