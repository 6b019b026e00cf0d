-- One row is one setting on one task through two backends of one device: the speedup through the
-- first over the speedup through the second. A line of more than 50 points is an even sample by
-- digest, and only the 20 longest lines are kept, so that the chart is readable and light.
with drawn as (
  select
    concat_ws(' · ', device_label, first_backend || ' ÷ ' || second_backend, tier) as line_label,
    device_label, first_backend, second_backend, target, target_label, method, method_label, depth,
    task_label(task) as task_label, first_speedup, second_speedup, speedup_ratio as relative, tier,
    task,
    median(speedup_ratio) over line as typical, count(*) over line as dots
  from backend_pair
  where task <> 'all'
  window line as (partition by device, first_backend, second_backend, tier)
  qualify dots >= 3
    and row_number() over (
      line order by md5(concat_ws('|', target, method, depth, task)), speedup_ratio
    ) <= 50
)
select * exclude (target, method, task)
from drawn
qualify dense_rank() over (order by dots desc, line_label) <= 20
order by dots desc, line_label, target, method, depth, task;
