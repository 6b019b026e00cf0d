-- One row is one cell of a series that was measured at several depths of context: tokens that stood
-- before the answer. `series` names the cell without its depth of context and its task.
create table context_view as
select
  explore.* replace (
    md5(concat_ws('|', device, backend, engine_label, target, quantisation, method,
      coalesce(depth, 0), coalesce(draft_label, ''), token_choice, cache_types, attention,
      loading, tier))[:10] as series
  ),
  concat_ws(' · ', device_label, backend, engine_label, target_label || ' ' || quantisation,
    token_choice, 'KV ' || cache_types, 'flash attention ' || attention, loading) as place_label,
  concat_ws(' · ', method_label, 'depth ' || depth, draft_label) as arm_label
from explore
where context_depth is not null and concurrency = 1
qualify count(distinct context_depth) over (partition by series, task) > 1
order by series, task = 'all' desc, task, context_depth;
