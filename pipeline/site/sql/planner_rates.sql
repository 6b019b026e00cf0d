-- One row is one plain speed of a model on one device: of a submission, or the middle of what one
-- person published.
select
  tier,
  device_label,
  vram_gib,
  backend,
  target_label,
  quantisation,
  coalesce(
    nullif(regexp_extract(page, '^submissions/(.+)/$', 1), ''), any_value(source_url order by source_url)
  ) as source,
  median(baseline_tps) as tps
from multiplier
where
  baseline_tps is not null and concurrency = 1 and quantisation is not null
  and not contains(device_label, ' × ') and not contains(device_label, ' + ')
group by tier, device_label, vram_gib, backend, target_label, quantisation, page, author
order by device_label, target_label, quantisation, tier, source, tps;
