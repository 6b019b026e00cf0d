-- One row is one row of a public source: its machine and its models as lines of words, and what was
-- measured here on the same device through the same backend on the same task, all models and methods.
-- An article names a card without its memory, so "RTX 5060 Ti" is also "RTX 5060 Ti 16 GB".
with measured as (
  select
    published.source,
    published.row_id,
    arg_min(cell.device, cell.cell) as device,
    arg_min(cell.device_label, cell.cell) as measured_label,
    min(cell.speedup) as lowest,
    max(cell.speedup) as highest,
    count(*) as cells
  from published_row as published
  join cell
    on cell.tier = 'measured'
    and cell.speedup is not null
    and cell.task = coalesce(published.task, 'all')
    and cell.backend = coalesce(published.backend, cell.backend)
    and starts_with(cell.device_label || ' ', published.device_label || ' ')
  group by all
)
select
  published.*,
  measured.device,
  measured.measured_label,
  measured.lowest,
  measured.highest,
  measured.cells,
  list_filter(
    [
      device_label,
      concat_ws(' ', engine_name, engine_version, backend),
      target_gpu_layers || ' of ' || coalesce(target_layers::varchar, '?')
        || ' target layers on the GPU',
      'driver ' || driver,
      format('power limit {:g} W', power_limit_w),
      'cache ' || kv_type,
      'context ' || context_tokens,
      'split ' || split_mode
    ],
    lambda line: line != ''
  ) as setup,
  list_filter(
    [
      concat_ws(' ', target_name, quantisation),
      'with ' || nullif(concat_ws(' ', draft_name, draft_quantisation), ''),
      concat_ws(', ', method_label, 'depth ' || depth, format('least probability {:g}', p_min))
    ],
    lambda line: line != ''
  ) as models
from published_row as published
left join measured using (source, row_id)
order by published.source, published.position;
