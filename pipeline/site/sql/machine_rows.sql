-- One row is the best figure of one device through one backend with one model in one quantisation
-- on one task ('all' too) of one tier, for one request at a time, with how many settings it is the
-- best of and how far they spread. Measured and imported ones are as the table `best` has them; a
-- published figure has no interval, and one whose arms differ in more than speculation comes last.
with credited as (
  select submission, min(source.source) as source
  from submission
  join source on list_contains(source.file_digests, submission.origin_sha256)
  group by submission
),
picked as (
  select
    best.* replace (coalesce(best.submission, explore.submission) as submission),
    best.choices as settings
  from best
  left join explore on explore.cell = best.candidate
  where best.place = 'machine'
),
printed as (
  select
    * replace (coalesce(task, 'all') as task),
    count(*) over place as settings,
    min(speedup) over place as least,
    max(speedup) over place as most
  from published_pair
  where target_label is not null
  window place as (partition by device, backend, target, quantisation, coalesce(task, 'all'))
  qualify row_number() over (
    place order by len(also_differs) = 0 desc, speedup desc, method, depth, source
  ) = 1
)
select
  tier, device, device_label, device_kind, vram_gib, backend, engine_label,
  target as model, target_label as model_label, quantisation, parameters, active_parameters,
  size_order, method, method_label, depth, draft_label, task, own_tasks,
  speedup, interval_low, interval_high, stated_request, verdict, at_least, recommended, submission,
  source, null as contributor, settings, least, most, other_engine, other_tps
from picked
left join credited using (submission)
union all
select
  tier, device, device_label, device_kind, vram_gib, backend, engine_name,
  target, target_label, quantisation, parameters, null,
  size_order, method, method_label, depth, draft_label, task, false,
  speedup, null, null, null, null, null, true, null,
  source, contributor, settings, least, most, null, null
from printed
order by device, model, quantisation, backend, task, tier;
