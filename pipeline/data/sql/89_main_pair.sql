-- One row is one device with one model over all tasks: the single figure that every page shows,
-- from the pair's best tier. `tps` is `baseline_tps` times `speedup`; both rates are those of the
-- `rated` people who stated them.
create table main_pair as
select
  device,
  device_label,
  vram_gib,
  target,
  target_label,
  parameters,
  tier,
  method,
  method_label,
  speedup,
  interval_low,
  interval_high,
  verdict,
  least,
  most,
  baseline_tps,
  tps,
  rated,
  people,
  figures,
  depths,
  quantisations,
  backing
from pair
where task = 'all' and scope = 'pair' and condition is null and tier_order = 1
order by device, target;
