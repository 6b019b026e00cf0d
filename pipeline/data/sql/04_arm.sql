-- One row is one arm of one submission: a configuration that was compared. `depth` is the depth of
-- every round. If the depth varies, `varied_by` is the reason, `depths` the range and `depth_limit`
-- the largest depth.
create table arm as
with listed as (
  select
    submission,
    unnest(document.arms) as arm,
    unnest(identity.settings) as named,
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
    named.method_label,
    arm.method.draft,
    named.depth,
    arm.method.n_max as depth_limit,
    named.varied_by,
    named.depths,
    arm.method.n_min,
    arm.method.p_min,
    arm.method.ngram_min,
    arm.method.ngram_max,
    arm.method.ngram_size,
    arm.method.min_hits,
    arm.method.adaptive,
    arm.method.controller,
    arm.method.chain,
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
  draft.draft_name,
  draft.quantisation as draft_quantisation,
  draft.parameters as draft_parameters
from flat
left join draft using (submission, draft)
order by submission, position;
