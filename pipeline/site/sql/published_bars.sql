-- One row is one published speedup: what a public source claims, never averaged with anything.
select
  source,
  source_title,
  row_id,
  place,
  kind,
  nullif(
    concat_ws(
      ' · ', device_label, backend, target_name, draft_name, speculation_label(method),
      task_label(task)
    ),
    ''
  ) as configuration,
  -- What names the bar, then its lines of words: only the first has to be unique.
  concat_ws(
    '|',
    concat_ws(' / ', source, row_id, figure_position),
    coalesce(nullif(concat_ws(' ', device_label, backend), ''), split_part(place, ';', 1)),
    coalesce(target_name, speculation_label(method)),
    if(task is null, '+ ' || draft_name, task_label(task))
  ) as bar_label,
  device_label,
  target_name,
  draft_name,
  method,
  task,
  value as speedup,
  high,
  qualifier,
  as_printed
from published_view
where quantity = 'speedup' and ($source = 'all' or source = $source)
order by source, position, figure_position;
