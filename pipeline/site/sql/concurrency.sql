-- One row is one arm with one number of requests in flight: measured over all tasks, imported by
-- task, or published.
with listed as (
  select
    tier, series, place_label,
    concat_ws(' · ', arm_label, if(tier = 'measured', null, task_label(task))) as arm_label,
    method, method_label, concurrency, speedup, interval_low, interval_high,
    verdict_label(mark) as verdict_label,
    total_speedup
  from concurrency_view
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
select * from listed
qualify count(*) over (partition by series) > 1
order by tier, series, concurrency;
