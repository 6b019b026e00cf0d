-- One row is one plain speed of a model on one device, of a submission or as a source printed it.
select
  tier,
  device_label,
  vram_gib,
  backend,
  target_label,
  quantisation,
  coalesce(nullif(regexp_extract(page, '^submissions/(.+)/$', 1), ''), source_url) as source,
  median(baseline_tps) as tps
from multiplier
where
  baseline_tps is not null and concurrency = 1 and quantisation is not null
  and not contains(device_label, ' × ') and not contains(device_label, ' + ')
group by all
order by device_label, target_label, quantisation, tier, source, tps;
