-- One row is one cell in the break-even plane, over all tasks or, if imported, of one task. More
-- than 200 `cells` are sampled evenly by digest, so that the chart is readable and light.
select
  cell,
  device_label,
  backend,
  target_label,
  quantisation,
  method,
  method_label,
  depth,
  tokens_per_round,
  round_cost,
  margin_tokens,
  cannot_win,
  speedup,
  interval_low,
  interval_high,
  verdict,
  verdict_label(mark) as verdict_label,
  submissions,
  tier,
  count(*) over () as cells
from break_even
where task = 'all' or tier <> 'measured'
qualify row_number() over (order by md5(cell)) <= 200
order by device_label, target_label, method, quantisation, depth, cell;
