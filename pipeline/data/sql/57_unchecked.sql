-- One row is one figure that somebody reported and that no maintainer has compared with its source.
-- The pages of its device and its model show it in a list; nothing is derived from it.
create table unchecked as
select
  source, row_id, device, device_label, target, target_label, quantisation, backend, engine_name,
  method, method_label, depth, task, speedup, baseline_tps, tps, contributor, row_url, row_date,
  reported_by
from stated_rate
where checked_by is null
order by device, target, source, position;
