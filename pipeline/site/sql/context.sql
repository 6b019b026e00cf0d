-- One row is one arm after one number of tokens of context: measured, in a series of several depths
-- over all tasks (else on one task), or published.
with listed as (
  select
    explore.* exclude (series),
    md5(concat_ws('|', device, backend, engine_label, target, quantisation, method,
      coalesce(depth, 0), coalesce(draft_label, ''), coalesce(token_choice, ''),
      coalesce(answer_limit, ''), coalesce(suite_label, ''),
      coalesce(cache_types, ''), coalesce(attention, ''), coalesce(loading, ''), tier))[:10]
      as setting_series,
    concat_ws(' · ', device_label, backend, engine_label, target_label || ' ' || quantisation,
      suite_label, token_choice, answer_limit, 'KV ' || cache_types,
      'flash attention ' || attention, loading) as place_label,
    concat_ws(' · ', method_label, 'depth ' || depth, draft_label, nullif(task, 'all')) as arm_label
  from explore
  where context_depth is not null and concurrency = 1 and speedup is not null
),
several as (
  select *
  from listed
  qualify count(distinct context_depth) over (partition by setting_series, task) > 1
),
drawn as (
  select
    tier, setting_series || '-' || task as series, place_label, arm_label, method, method_label,
    context_depth, speedup, interval_low, interval_high, verdict_label(mark) as verdict_label,
    round_cost, acceptance_rate
  from several
  qualify task = 'all' or not bool_or(task = 'all') over (partition by setting_series)
  union all
  select
    tier,
    concat_ws(
      '|', source, contributor, device, backend, target, quantisation, method, depth, draft_label
    ),
    concat_ws(
      ' · ', device_label, nullif(backend, 'not stated'), concat_ws(' ', target_label, quantisation)
    ),
    concat_ws(' · ', method_label, 'depth ' || depth, draft_label),
    method, method_label, prompt_tokens, median(speedup), null, null, null, null, null
  from published_rate
  where prompt_tokens is not null
    and coalesce(concurrency, 1) = 1
    and len(coalesce(also_differs, [])) = 0
  group by all
)
select * from drawn
qualify max(context_depth) over (partition by series)
  >= 2 * min(context_depth) over (partition by series)
order by tier, series, context_depth;
