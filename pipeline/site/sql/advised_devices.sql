-- One row is one device that the advisor learned from, as its first observation names it.
select
  device as id,
  first(device_label order by observation) as label,
  first(vram_gib order by observation) as memory,
  list_sort(list_distinct(list(backend))) as backends
from advice_observation
group by device
order by device;
