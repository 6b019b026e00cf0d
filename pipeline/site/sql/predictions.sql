-- One row is one voter's cell with one prediction of it: from its own campaign's probes, or from
-- the advisor without this voter. Of more than 300 of a kind an even sample by digest, so that the
-- chart stays readable and light; the exported table `predictions` holds all.
with predicted as (
  select *, 'Its own probes' as kind, predicted_speedup as predicted
  from advice_prediction
  union all
  select *, 'Other machines' as kind, advised_speedup as predicted
  from advice_prediction
),
shown as (
  select *
  from predicted
  where predicted is not null
  qualify row_number() over (partition by kind order by md5(observation)) <= 300
)
select
  kind,
  device_label,
  backend,
  target_label,
  quantisation,
  method_label,
  depth,
  task_label(task) as task_label,
  predicted,
  speedup,
  exp(abs(ln(speedup / predicted))) - 1 as off_by
from shown
order by kind, observation;
