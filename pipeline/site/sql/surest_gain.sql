-- One row is the best setting of one device, or of one target (`$place` names which), over all models,
-- methods and tasks of the best tier that it has. `other_engine` is the fastest one without speculation
-- among the other engines that wrote the same task with the same weights there, at `other_tps`.
with plain as (
  select
    best.candidate,
    arg_max(other.engine_label, (other.baseline_tps, other.cell)) as other_engine,
    max(other.baseline_tps) as other_tps
  from best
  join cell as other
    on other.device = best.device and other.target = best.target
    and other.quantisation = best.quantisation and other.task = best.task
    and other.tier = best.tier and other.engine_label <> best.engine_label
    and other.concurrency = 1 and other.conditions is null
  where best.place = $place and other.baseline_tps is not null
  group by best.candidate
)
select best.*, plain.other_engine, plain.other_tps
from best
left join plain using (candidate)
where place = $place and tier_order = 1
order by scope;
