-- One row is one source with the numbers of submissions and of published rows
-- from this source.
select
  source.*,
  (
    select count(*) from submission where list_contains(source.file_digests, origin_sha256)
  ) as submissions,
  (
    select count(*) from published_row where published_row.source = source.source
  ) as printed_rows
from source
order by source.use = 'not-taken', source.use = 'facts', title, source.source;
