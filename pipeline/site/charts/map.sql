-- One row is one square of the map for one task and tier: every row of devices that was measured
-- against every size class; squares without evidence have no speedup.
with chosen as (
  select * from map_cell where task = $task and tier = $tier
),
lines as (
  select distinct
    device,
    device_label,
    device_kind,
    vram_gib,
    backend,
    device_label || ' · ' || backend as line_label
  from chosen
),
classes as (
  select label as size_class, position as size_order from vocabulary_size where not unknown
  union
  select distinct size_class, size_order from chosen
)
select
  lines.line_label,
  lines.device,
  lines.device_label,
  lines.backend,
  classes.size_class,
  classes.size_order,
  chosen.speedup,
  chosen.interval_low,
  chosen.interval_high,
  chosen.interval_kind,
  interval_label(chosen.interval_kind) as interval_label,
  chosen.verdict,
  verdict_label(chosen.verdict) as verdict_label,
  chosen.method_label,
  chosen.depth,
  chosen.target_label,
  chosen.quantisation,
  chosen.default_speedup,
  chosen.cells,
  chosen.losing_cells,
  chosen.submissions,
  chosen.contributors
from lines
cross join classes
left join chosen using (device, device_label, backend, size_class)
order by lines.device_kind desc, lines.vram_gib desc, lines.line_label, classes.size_order;
