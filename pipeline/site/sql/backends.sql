-- One row is one method on one task through two backends of one device: the pair's figure through
-- the first over that through the second, if both have the same depth, draft, quantisation and
-- engine. A line of more than 50 points is an even sample by digest, and only the 20 longest lines
-- are kept, so that the chart is readable and light.
with kept as (
  select
    *, row(depths, drafts, quantisations, engines, caches) as setting
  from pair
  where scope = 'backend and method' and condition is null and task <> 'all'
),
compared as (
  select
    concat_ws(' · ', one.device_label, one.backend || ' ÷ ' || other.backend, one.tier)
      as line_label,
    one.device_label, one.backend as first_backend, other.backend as second_backend, one.target,
    one.target_label, one.method, one.method_label, one.depth, one.task,
    one.speedup as first_speedup, other.speedup as second_speedup,
    one.speedup / other.speedup as relative, one.tier
  from kept as one
  join kept as other using (device, target, method, task, tier, setting)
  where one.backend < other.backend
),
drawn as (
  select
    *, task_label(task) as task_label, median(relative) over line as typical,
    count(*) over line as dots
  from compared
  window line as (partition by line_label)
  qualify dots >= 3
    and row_number() over (
      line order by md5(concat_ws('|', target, method, depth, task)), relative
    ) <= 50
)
select * exclude (target, method, task)
from drawn
qualify dense_rank() over (order by dots desc, line_label) <= 20
order by dots desc, line_label, target, method, depth, task;
