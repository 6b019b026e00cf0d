-- One row is one arm with one number of requests in flight: measured over all tasks, imported by
-- task, or published. `total_speedup` is the newest submission's gain over whole passes, on all of
-- its tasks together.
with listed as (
  select
    *,
    series || '-' || tier as whole_series,
    concat_ws(' · ', device_label, backend, engine_label, target_label || ' ' || quantisation,
      suite_label, conditions) as place_label
  from explore
  qualify count(distinct concurrency) over (partition by series, tier, task) > 1
),
measured as (
  select
    throughput.submission,
    arm.method,
    arm.depth,
    setting.draft_label,
    throughput.concurrency,
    any_value(throughput.total_speedup order by arm.position) as total_speedup
  from throughput
  join arm using (submission, arm)
  join setting using (submission, arm)
  group by all
),
drawn as (
  select
    tier, whole_series as series, place_label,
    concat_ws(' · ', method_label, 'depth ' || listed.depth, listed.draft_label,
      if(tier = 'measured', null, task_label(task))) as arm_label,
    listed.method, method_label, listed.concurrency, speedup, interval_low, interval_high,
    verdict_label(mark) as verdict_label,
    total_speedup
  from listed
  left join measured
    on measured.submission = listed.submission and measured.method = listed.method
    and measured.depth is not distinct from listed.depth
    and measured.draft_label is not distinct from listed.draft_label
    and measured.concurrency = listed.concurrency
  where speedup is not null and (task = 'all' or tier <> 'measured')
  union all
  select
    tier,
    concat_ws('|', source, contributor, device, backend, target, quantisation, method, depth,
      draft_label, prompt_tokens),
    concat_ws(
      ' · ', device_label, nullif(backend, 'not stated'), concat_ws(' ', target_label, quantisation)
    ),
    concat_ws(' · ', method_label, 'depth ' || depth, draft_label),
    method, method_label, concurrency, median(speedup), null, null, null, null
  from published_rate
  where concurrency is not null and len(coalesce(also_differs, [])) = 0
  group by all
)
select * from drawn
qualify count(*) over (partition by series) > 1
order by tier, series, concurrency;
