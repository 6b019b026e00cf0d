-- One row is one speedup for other programs: a device's rate with a method over its rate without
-- the method, by model, task and tier, with the source of the figure. Tiers are never mixed. A
-- published ratio has no interval or verdict, and may have `doubts`. `page` is a path below the
-- root of the site.
create table speedup as
with own as (
  select
    explore.*,
    'submissions/' || explore.submission || '/' as page,
    coalesce(source.author, if(explore.tier = 'measured', 'Draftmap contributors', null),
      submission.origin_source) as author,
    source.url as source_url,
    coalesce(source.licence, submission.origin_licence, submission.licence) as licence
  from explore
  join submission using (submission)
  left join source on list_contains(source.file_digests, submission.origin_sha256)
  where explore.speedup is not null and explore.preview_submissions = 0
    and explore.conditions is null
),
printed as (
  select
    published_pair.* replace (
      coalesce(published_pair.task, 'all') as task,
      nullif(array_to_string(published_pair.doubts, ' '), '') as doubts
    ),
    published_pair.engine_name as engine_label,
    1 as concurrency,
    false as at_most,
    1 as contributors,
    1 as submissions,
    'devices/' || published_pair.device || '/' as page,
    coalesce(published_pair.contributor, source.author, source.publisher) as author,
    published_pair.row_url as source_url,
    source.licence
  from published_pair
  join source using (source)
)
select
  tier,
  device,
  device_label,
  vram_gib,
  backend,
  engine_label,
  target_label,
  parameters,
  quantisation,
  method,
  method_label,
  depth,
  draft_label,
  concurrency,
  suite_label,
  task,
  speedup,
  interval_low,
  interval_high,
  interval_kind,
  stated_request,
  stated_request_low,
  stated_request_high,
  at_most,
  verdict,
  baseline_tps,
  tps,
  tokens_per_round,
  round_cost,
  acceptance_rate,
  contributors,
  submissions,
  last_measured,
  page,
  author,
  source_url,
  licence,
  doubts
from (from own union all by name from printed)
order by
  tier = 'published', tier = 'imported', device, target_label, quantisation, backend, method, depth,
  draft_label, concurrency, engine_label, task, speedup, author, page;
