-- One row is one cell in the break-even plane, over all tasks or, if imported, of one task: it wins
-- if its tokens per round exceed the round cost. `cannot_win`: even a fully accepted draft (depth +
-- 1 tokens a round) would not pay for the round. Arms that never drafted have no rounds. More than
-- 200 `cells` are sampled evenly by digest, so that the chart is readable and light.
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
  coalesce(round_cost > depth + 1, false) as cannot_win,
  speedup,
  interval_low,
  interval_high,
  verdict,
  verdict_label(mark) as verdict_label,
  submissions,
  tier,
  count(*) over () as cells
from cell
where tokens_per_round is not null and round_cost is not null and verdict <> 'never-drafted'
  and (task = 'all' or tier <> 'measured')
qualify row_number() over (order by md5(cell)) <= 200
order by device_label, target_label, method, quantisation, depth, cell;
