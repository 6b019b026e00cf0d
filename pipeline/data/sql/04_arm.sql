-- One row is one arm of one submission: a configuration that was compared.
create table arm as
with listed as (
  select
    submission,
    unnest(document.arms) as arm,
    generate_subscripts(document.arms, 1) as position
  from submission_document
),
flat as (
  select
    submission,
    position,
    arm.id as arm,
    arm.role,
    arm.baseline,
    arm.outcome,
    arm.reason,
    arm.method.type as method,
    arm.method.name as method_name,
    arm.method.draft,
    arm.method.n_max as depth,
    arm.method.n_min,
    arm.method.p_min,
    arm.method.ngram_min,
    arm.method.ngram_max,
    arm.method.ngram_size,
    arm.method.min_hits,
    arm.method.adaptive,
    coalesce(arm.concurrency, 1) as concurrency,
    arm.placement.target_gpu_layers_requested,
    arm.placement.target_gpu_layers_resident,
    arm.placement.draft_gpu_layers_requested,
    arm.placement.draft_gpu_layers_resident,
    arm.argv,
    arm.load_s,
    list_max(list_transform(arm.peak_memory, lambda entry: entry.peak_mib)) as peak_mib,
    arm.peak_memory
  from listed
)
select
  flat.*,
  coalesce(flat.method_name, method_label(flat.method)) as method_label,
  draft.draft_name,
  draft.quantisation as draft_quantisation,
  draft.parameters as draft_parameters
from flat
left join draft using (submission, draft)
order by submission, position;
comment on column arm.depth is '{"label": "Depth", "unit": "tokens", "direction": "none"}';
comment on column arm.n_min is '{"label": "Least draft", "unit": "tokens", "direction": "none"}';
comment on column arm.p_min is '{"label": "Least draft probability", "unit": "fraction", "direction": "none"}';
comment on column arm.ngram_min is '{"label": "Shortest n-gram", "unit": "tokens", "direction": "none"}';
comment on column arm.ngram_max is '{"label": "Longest n-gram", "unit": "tokens", "direction": "none"}';
comment on column arm.ngram_size is '{"label": "N-gram", "unit": "tokens", "direction": "none"}';
comment on column arm.min_hits is '{"label": "Least hits", "unit": "hits", "direction": "none"}';
comment on column arm.concurrency is '{"label": "Concurrency", "unit": "requests", "direction": "none"}';
comment on column arm.target_gpu_layers_requested is '{"label": "Target layers asked on the GPU", "unit": "layers", "direction": "none"}';
comment on column arm.target_gpu_layers_resident is '{"label": "Target layers on the GPU", "unit": "layers", "direction": "none"}';
comment on column arm.draft_gpu_layers_requested is '{"label": "Draft layers asked on the GPU", "unit": "layers", "direction": "none"}';
comment on column arm.draft_gpu_layers_resident is '{"label": "Draft layers on the GPU", "unit": "layers", "direction": "none"}';
comment on column arm.load_s is '{"label": "Load time beyond the target", "unit": "s", "direction": "lower"}';
comment on column arm.peak_mib is '{"label": "Peak memory of the fullest device", "unit": "MiB", "direction": "lower"}';
comment on column arm.draft_parameters is '{"label": "Parameters of the draft", "unit": "parameters", "direction": "none"}';
