-- One row is one source with the numbers of its submissions and of its published rows, and the
-- devices whose pages show its figures.
select
  source.*,
  (
    select count(*) from submission where list_contains(source.file_digests, origin_sha256)
  ) as submissions,
  (
    select count(*) from published_row where published_row.source = source.source
  ) as printed_rows,
  (
    select list({'device': device, 'label': device_label} order by device_label)
    from (select distinct source, device, device_label from published_pair) as shown
    where shown.source = source.source
  ) as devices
from source
order by source.use = 'not-taken', source.use = 'facts', title, source.source;
