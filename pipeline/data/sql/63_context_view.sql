-- One row is one cell of a series that was measured at several depths of context, in tokens before
-- the answer. `series` names the cell without its depth of context. `summary` marks the series
-- over all tasks or, if there is no such series, the series of single tasks.
create table context_view as
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
)
select
  several.* exclude (setting_series),
  setting_series || '-' || task as series,
  task = 'all' or not bool_or(task = 'all') over (partition by setting_series) as summary
from several
order by series, context_depth;
