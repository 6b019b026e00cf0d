-- One row is one width of one verification curve: the newest of each device, backend and target.
with newest_first as (
  select
    verification_curve.*,
    dense_rank() over (
      partition by verification_curve.curve_label
      order by setup.measured_from desc, verification_curve.submission desc
    ) as age
  from verification_curve
  join setup using (submission)
  where $device = 'all' or verification_curve.device = $device
)
select curve_label, device, backend, submission, width, step_ms, step_ratio
from newest_first
where age = 1
order by curve_label, width;
