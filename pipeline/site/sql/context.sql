-- One row is one arm after one number of tokens of context: measured over all tasks (else on
-- one task), or published.
with listed as (
  select
    tier, series, place_label, arm_label, method, method_label, context_depth, speedup,
    interval_low, interval_high, verdict_label(mark) as verdict_label, round_cost, acceptance_rate
  from context_view
  where summary
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
select * from listed
qualify max(context_depth) over (partition by series)
  >= 2 * min(context_depth) over (partition by series)
order by tier, series, context_depth;
