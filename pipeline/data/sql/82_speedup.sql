-- One row is one speedup for other programs: a device's rate with a method over its rate without
-- the method, by model, task and tier, with the source of the figure. Tiers are never mixed. A
-- published ratio has no interval or verdict, and may have `doubts`. `page` is a path below the
-- root of the site.
create table speedup as
with own as (
  select
    explore.tier,
    explore.device,
    explore.device_label,
    explore.vram_gib,
    explore.backend,
    explore.engine_label,
    explore.target_label,
    explore.parameters,
    explore.quantisation,
    explore.method,
    explore.method_label,
    explore.depth,
    explore.draft_label,
    explore.concurrency,
    explore.suite_label,
    explore.task,
    explore.speedup,
    explore.interval_low,
    explore.interval_high,
    explore.interval_kind,
    explore.stated_request,
    explore.stated_request_low,
    explore.stated_request_high,
    explore.at_most,
    explore.verdict,
    explore.baseline_tps,
    explore.tps,
    explore.tokens_per_round,
    explore.round_cost,
    explore.acceptance_rate,
    explore.contributors,
    explore.submissions,
    explore.last_measured,
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
    published_pair.tier,
    published_pair.device,
    published_pair.device_label,
    published_pair.vram_gib,
    published_pair.backend,
    published_pair.engine_name as engine_label,
    published_pair.target_label,
    published_pair.parameters,
    published_pair.quantisation,
    published_pair.method,
    published_pair.method_label,
    published_pair.depth,
    published_pair.draft_label,
    1 as concurrency,
    coalesce(published_pair.task, 'all') as task,
    published_pair.speedup,
    false as at_most,
    published_pair.baseline_tps,
    published_pair.tps,
    1 as contributors,
    1 as submissions,
    'devices/' || published_pair.device || '/' as page,
    coalesce(published_pair.contributor, source.author, source.publisher) as author,
    published_pair.row_url as source_url,
    source.licence,
    nullif(array_to_string(published_pair.doubts, ' '), '') as doubts
  from published_pair
  join source using (source)
)
from (from own union all by name from printed)
order by
  tier = 'published', tier = 'imported', device, target_label, quantisation, backend, method, depth,
  draft_label, concurrency, engine_label, task, speedup, author, page;
