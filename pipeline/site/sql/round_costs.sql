-- One row is the cost of a round at one depth of one pair on one device, which is the `place`.
with pairs as (
  select *, count(*) over (partition by device, line_label) as depths from round_cost
)
select
  device as place, device, device_label, backend, line_label, method, method_label, depth,
  round_cost, tokens_per_round, results, submission
from pairs
qualify row_number() over (partition by device order by depths desc, line_label, depth) <= 60
order by place, depths desc, line_label, depth;
