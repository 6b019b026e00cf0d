-- One row is one measured verification curve, with what steps of some widths cost in single steps:
-- the first 200 of all `curves`.
select
  submission,
  any_value(device) as device,
  any_value(device_label) as device_label,
  any_value(backend) as backend,
  any_value(target) as target,
  any_value(target_label) as target_label,
  any_value(quantisation) as quantisation,
  arg_min(step_ms, width) as step_ms,
  max(step_ratio) filter (width = 2) as cost_2,
  max(step_ratio) filter (width = 3) as cost_3,
  max(step_ratio) filter (width = 5) as cost_5,
  max(step_ratio) filter (width = 9) as cost_9,
  count(*) over () as curves
from verification_curve
where tier = 'measured'
group by submission
order by min(rowid)
limit 200;
