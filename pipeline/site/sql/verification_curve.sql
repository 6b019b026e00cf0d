-- One row is one width of one verification curve, the newest curve of each device, backend and
-- target. The `place` is the device if `$by` is `device`; otherwise all curves are of one place. If
-- a place has more than 40 `curves`, only the flattest, the steepest and an even sample are kept.
with newest as (
  select if($by = 'device', verification_curve.device, 'all') as place, verification_curve.*
  from verification_curve
  join setup using (submission)
  qualify dense_rank() over (
    partition by verification_curve.curve_label
    order by setup.known desc, setup.measured_from desc, verification_curve.submission desc
  ) = 1
),
ranked as (
  select
    place,
    curve_label,
    arg_max(step_ratio / width, width) as slope,
    count(*) over (partition by place) as curves,
    row_number() over (partition by place order by slope, curve_label) as flat,
    row_number() over (partition by place order by slope desc, curve_label) as steep
  from newest
  group by place, curve_label
)
select place, curve_label, device, backend, submission, width, step_ms, step_ratio, curves
from newest
join ranked using (place, curve_label)
qualify dense_rank() over (
  partition by place order by least(flat, steep) > 1, md5(curve_label)
) <= 40
order by place, curve_label, width;
