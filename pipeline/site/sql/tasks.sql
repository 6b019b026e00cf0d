-- One row is one setting on one task, of the settings with three tasks or more: its speedup on
-- the task divided by its mean over all its tasks (of logarithms), so that machines and models do
-- not matter. A line of more than 30 points is an even sample by digest, so that the chart is
-- readable and light.
with figure as (
  select tier, setup as setting, device_label, target_label, method_label, depth, task, speedup
  from explore
  where task <> 'all' and speedup is not null and verdict <> 'never-drafted'
  union all
  select
    tier,
    concat_ws('|', source, contributor, device, backend, engine_name, target, quantisation, method,
      depth, draft_label),
    device_label, target_label, method_label, depth, task, median(speedup)
  from published_pair
  where task is not null and len(also_differs) = 0 and len(doubts) = 0 and offload is null
  group by all
),
compared as (
  select *, speedup / exp(avg(ln(speedup)) over (partition by setting, tier)) as relative
  from figure
  qualify count(*) over (partition by setting, tier) >= 3
)
select
  concat_ws(' · ', task_label(task), tier) as line_label,
  task_label(task) as task_label, device_label, target_label, method_label, depth, speedup,
  relative, tier,
  median(relative) over line as typical, count(*) over line as dots
from compared
window line as (partition by task, tier)
qualify dots >= 3 and row_number() over (partition by task, tier order by md5(setting)) <= 30
order by list_position(['measured', 'imported', 'published'], tier), typical desc, task,
  device_label, target_label, method_label, depth, setting;
