-- One row is one setting as it was measured over all tasks on one device with one model in one
-- quantisation by llama.cpp: the best of its drafts, backends and runners, by which a plan never
-- recommends what loses.
select
  device_label,
  backend = 'cpu' as on_cpu,
  target_label,
  quantisation,
  method,
  depth,
  speedup,
  coalesce(interval_low, speedup) as low,
  coalesce(interval_high, speedup) as high,
  recommended
from best
where place = 'setting' and tier = 'measured' and not ends_with(target_label, ', thinking')
order by scope;
