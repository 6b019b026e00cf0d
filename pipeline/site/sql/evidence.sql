-- One row is one speedup of one request at a time, for `answers`: the speedup of a measured or
-- imported cell with all its people, or the median of one person's published figures about a
-- setting. Long prompts, several requests at once, very short answers and models partly in main
-- memory are left out. Measurements of unknown accounts are left out, too, if others have
-- published figures. `confounded`: runs that differ in more than speculation.
with own as (
  select
    tier, device_label, device_kind, backend, target_label, quantisation, engine_label as engine,
    null::varchar as build, last_measured::date::varchar as day, cell as person,
    greatest(votes, 1) as people, submission_list[1] as source, method, depth, draft_label,
    task, speedup, baseline_tps, interval_low, interval_high, false as confounded,
    []::varchar[] as doubts
  from cell
  where concurrency = 1 and conditions is null and speedup is not null
    and verdict <> 'never-drafted' and not ends_with(target_label, ', thinking')
    and not (backing > 0 and (device, target) in (select (device, target) from published_pair))
  qualify suite_version(suite_label)
    = max(suite_version(suite_label)) over (partition by tier, device, target, backing)
),
printed as (
  select
    rate.tier, rate.device_label, rate.device_kind, rate.backend, rate.target_label,
    rate.quantisation, rate.engine_name as engine, published_row.engine_version as build,
    coalesce(published_row.row_date, published_row.transcribed_on::varchar) as day,
    coalesce(rate.contributor, source.author, source.publisher, rate.source) as person,
    1 as people, rate.source, rate.method, rate.depth, rate.draft_label,
    coalesce(rate.task, 'all') as task,
    exp(median(ln(rate.speedup))) as speedup,
    median(rate.baseline_tps) as baseline_tps,
    null::double as interval_low, null::double as interval_high,
    len(rate.also_differs) > 0 as confounded,
    rate.doubts
  from published_rate as rate
  join published_row using (source, row_id)
  join source on source.source = rate.source
  where rate.speedup is not null
    and rate.target_label is not null
    and coalesce(rate.concurrency, 1) = 1
    and coalesce(rate.prompt_tokens, 0) < 2000
    and coalesce(max_output_tokens, 32) >= 32
    and rate.offload is null
  group by all
)
select * from own
union all
select * from printed
order by
  device_label, target_label, tier, quantisation, backend, engine, build, day, person, source,
  method, depth, draft_label, task, confounded, doubts, speedup;
