-- One row is the best figure of one device through one backend with one model in one quantisation
-- on one task ('all' too) of one tier, for one request at a time, with how many settings it is the
-- best of and how far they spread. Best is the highest lower bound; a published figure has none,
-- and one whose arms differ in more than speculation comes last.
with credited as (
  select submission, min(source.source) as source
  from submission
  join source on list_contains(source.file_digests, submission.origin_sha256)
  group by submission
),
found as (
  select
    tier, device, device_label, device_kind, vram_gib, backend, engine_label,
    target as model, target_label as model_label, quantisation, parameters, active_parameters,
    size_order, method, method_label, depth, draft_label, task, false as own_tasks,
    speedup, interval_low, interval_high, verdict, submission,
    null as source, null as contributor, true as alike
  from explore
  where tier = 'measured' and concurrency = 1 and conditions is null and speedup is not null
  union all
  select
    tier, device, device_label, device_kind, vram_gib, backend, engine_label,
    target, target_label, quantisation, parameters, active_parameters,
    size_order, method, method_label, depth, draft_label, if(task = 'own', 'all', task),
    task = 'own', speedup, interval_low, interval_high, verdict, submission,
    source, null, true
  from evidence
  left join credited using (submission)
  where tier = 'imported' and role = 'speculation' and counted and concurrency = 1 and conditions is null
    and speedup is not null and verdict <> 'never-drafted'
  union all
  select
    tier, device, device_label, device_kind, vram_gib, backend, engine_name,
    target, target_label,
    quantisation, parameters, null, size_order, method, method_label, depth, draft_label,
    coalesce(task, 'all'), false, speedup, null, null, null, null,
    source, contributor, len(also_differs) = 0
  from published_pair
  where target_label is not null
)
select
  *,
  count(*) over place as settings,
  min(speedup) over place as least,
  max(speedup) over place as most
from found
window place as (partition by tier, device, backend, model, quantisation, task)
qualify row_number() over (
  partition by tier, device, backend, model, quantisation, task
  order by alike desc, coalesce(interval_low, 0) desc, speedup desc, method, depth, submission,
    source
) = 1
order by device, model, quantisation, backend, task, tier;
