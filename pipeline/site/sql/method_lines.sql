-- One row is one method at one depth on one task in one tier, over all devices and targets, by task.
-- A published line is the median over devices of printed ratios, which have no interval.
with printed as (
  select
    device, task, method, method_label, depth, median(speedup) as speedup,
    min(speedup) as lowest, max(speedup) as highest
  from published_pair
  where speedup is not null and len(coalesce(also_differs, [])) = 0
  group by all
)
select
  tier, task, method, method_label, depth, speedup, interval_low, interval_high,
  stated_request, stated_request_low, stated_request_high, mark,
  worst_speedup, best_speedup, tokens_per_round, round_cost, acceptance_rate, rigs, devices
from method_view
where tier = 'measured' or speedup is not null
union all
select
  'published', coalesce(task, 'own'), method, any_value(method_label), depth,
  median(speedup), null, null,
  null, null, null, null,
  min(lowest), max(highest), null, null, null, null, count(*)
from printed
group by task, method, depth
order by
  task_order(if(task = 'own', 'all', task)), list_position(['measured', 'imported', 'published'], tier),
  method, depth;
