-- One row is one device with one model over all tasks: the single figure that every page shows.
-- The figure is the median over people in the pair's best tier. `speedup` is converted to the
-- usual depth if people used another depth, and `tps` is `baseline_tps` times `speedup`.
create table pair as
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
  baseline_tps * speedup as tps,
  moved,
  people,
  figures,
  backing
from strip
where task = 'all' and selection = 0 and condition is null and tier_order = 1
order by device, target;
