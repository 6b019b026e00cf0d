-- One row is one prompt under one build of a setting that has several builds: the rates without and
-- with speculation.
create table build_prompt as
select
  series,
  build_order,
  build_series.speedup,
  prompt_estimate.task,
  prompt,
  prompt_estimate.baseline_tps,
  prompt_estimate.tps
from build_series
join prompt_estimate using (submission, arm)
where builds > 1
order by series, build_order, task, prompt;
