-- One row is one width of one submission's verification curve, with the names of its setup.
create table verification_curve as
select
  setup.submission,
  setup.tier,
  setup.device,
  setup.device_label,
  setup.rig,
  setup.rig_label,
  setup.backend,
  setup.target,
  setup.target_label,
  setup.quantisation,
  setup.size_class,
  setup.target_label || ' ' || setup.quantisation || ' · ' || setup.device_label || ' · '
    || setup.backend as curve_label,
  probe_point.width,
  probe_point.step_ms,
  probe_point.step_ratio,
  probe_point.probe_context_tokens,
  probe_point.repeats
from probe_point
join setup using (submission)
where setup.counted
order by setup.device, setup.target, setup.submission, probe_point.width;
