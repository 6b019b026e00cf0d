-- One row is one cell of a device, or of a target (`$place` names which), measured ones first and of
-- those what is certainly fastest; of so many `listed` the first 20, so that a page stays
-- light. Explore has all. `other_engine` is the fastest one without speculation among the other
-- engines that wrote the same task with the same weights there, at `other_tps`.
with listed as (
  select *, count(*) over place as listed
  from cell
  window place as (partition by if($place = 'device', device, target))
  qualify row_number() over (
    partition by if($place = 'device', device, target)
    order by tier = 'measured' desc, interval_low desc nulls last, speedup desc nulls last, cell
  ) <= 20
),
plain as (
  select
    listed.cell,
    arg_max(other.engine_label, (other.baseline_tps, other.cell)) as other_engine,
    max(other.baseline_tps) as other_tps
  from listed
  join cell as other
    on other.device = listed.device and other.target = listed.target
    and other.quantisation = listed.quantisation and other.task = listed.task
    and other.tier = listed.tier and other.engine_label <> listed.engine_label
    and other.concurrency = listed.concurrency
    and other.conditions is not distinct from listed.conditions
  where other.baseline_tps is not null
  group by listed.cell
)
select listed.*, plain.other_engine, plain.other_tps
from listed
left join plain using (cell)
order by tier = 'measured' desc, interval_low desc nulls last, speedup desc nulls last, cell;
