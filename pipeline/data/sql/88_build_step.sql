-- One row is one setting over all tasks under one engine build, and the change of its speedup from
-- the first build and from the best earlier build, prompt by prompt
-- (`pipeline.data.build_changes`). `step` is a detected change: the interval, which allows for all
-- pairs of builds, excludes 1 and the ratio is at least 5 % either way. `smallest_step` is the
-- smallest change that these prompts could have shown. The baseline's rate is listed, too, because
-- a speedup also falls when plain decoding becomes faster.
create table build_step as
with answered as (
  select series, build_order, count(*) as prompts
  from build_prompt
  group by series, build_order
)
select
  build_series.* exclude (arm),
  answered.prompts,
  reference.engine_build as compared_with,
  speedup_change,
  change_low,
  change_high,
  if(change_high is null, null, greatest(1.05::double, change_high / speedup_change) - 1)
    as smallest_step,
  build_series.baseline_tps / reference.baseline_tps as baseline_change,
  case
    when change_low > 1 and speedup_change >= 1.05::double then 'faster'
    when change_high < 1 and speedup_change <= 1 / 1.05::double then 'slower'
  end as step
from build_series
left join answered using (series, build_order)
left join build_change using (series, build_order)
left join build_series as reference
  on reference.series = build_series.series and reference.build_order = build_change.reference_order
order by build_series.series, build_series.build_order;
