-- One row is one row of a public source that no device's page has: neither a rate with
-- speculation that has a baseline, nor such a baseline. `setting` is the row's machine and
-- models in words.
select
  row.source,
  row.row_id,
  row.place,
  row.kind,
  row.outcome,
  row.note,
  list_filter(
    [
      concat_ws(' ', row.device_label, row.backend),
      concat_ws(' ', row.target_name, row.quantisation),
      'with ' || nullif(concat_ws(' ', row.draft_name, row.draft_quantisation), ''),
      concat_ws(', ', row.method_label, 'depth ' || row.depth),
      task_label(row.task)
    ],
    lambda line: line != ''
  ) as setting
from published_row as row
anti join published_pair using (source, row_id)
where not exists (
  from published_row as other
  where other.source = row.source and other.baseline_row = row.row_id
)
order by row.source, row.position;
