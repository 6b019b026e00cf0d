-- One row is the cost of a round at one depth of one pair on one device (`$device`, or all).
select
  device, device_label, backend, line_label, method, method_label, depth, round_cost,
  tokens_per_round, results, submission
from round_cost
where $device in ('all', device)
order by count(*) over (partition by line_label) desc, line_label, depth
limit 60;
