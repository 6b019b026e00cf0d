-- One row is one width of one verification curve, the newest curve of each device, backend and
-- target. If there are more than 40 `curves`, only the flattest, the steepest and an even sample
-- are kept.
with newest_first as (
  select
    verification_curve.*,
    dense_rank() over (
      partition by verification_curve.curve_label
      order by setup.known desc, setup.measured_from desc, verification_curve.submission desc
    ) as age
  from verification_curve
  join setup using (submission)
  where $device = 'all' or verification_curve.device = $device
),
ranked as (
  select
    curve_label,
    arg_max(step_ratio / width, width) as slope,
    count(*) over () as curves,
    row_number() over (order by slope, curve_label) as flat,
    row_number() over (order by slope desc, curve_label) as steep
  from newest_first
  where age = 1
  group by curve_label
)
select curve_label, device, backend, submission, width, step_ms, step_ratio, curves
from newest_first
join ranked using (curve_label)
where age = 1
qualify dense_rank() over (order by least(flat, steep) > 1, md5(curve_label)) <= 40
order by curve_label, width;
