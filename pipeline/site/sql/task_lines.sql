-- One row is one method on one task in one tier, over all devices and targets, by task. A published
-- line is the median over devices of printed ratios, which have no interval.
with printed as (
  select
    device, task, method, method_label, median(speedup) as speedup,
    min(speedup) as lowest, max(speedup) as highest, list(distinct target_label) as targets
  from published_pair
  where task is not null and speedup is not null and len(coalesce(also_differs, [])) = 0
  group by all
)
select
  tier, task, method, method_label, speedup, interval_low, interval_high,
  stated_request, stated_request_low, stated_request_high, mark,
  worst_speedup, best_speedup, tokens_per_round, acceptance_rate, rigs, devices, targets
from task_view
where tier = 'measured' or speedup is not null
union all
select
  'published', task, method, any_value(method_label),
  median(speedup), null, null,
  null, null, null, null,
  min(lowest), max(highest), null, null, null, count(*), len(list_distinct(flatten(list(targets))))
from printed
group by task, method
order by task_order(task), list_position(['measured', 'imported', 'published'], tier), method;
