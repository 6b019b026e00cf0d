-- One row is one published acceptance curve at the depth that would be its best on one device: its
-- tokens per round over what a round costs there. The costs are those of one pair for each backend:
-- the one with the most depths, then the cheapest. No machine has measured that model here.
with lines as (
  select
    device, backend, line_label,
    row_number() over (
      partition by device, backend order by count(*) desc, avg(round_cost), line_label
    ) as place
  from round_cost
  group by device, backend, line_label
),
costs as (
  select round_cost.*
  from round_cost
  join lines using (device, backend, line_label)
  where place = 1
),
curves as (
  select
    row.source, source_title, author, source_licence, url,
    regexp_replace(row.place, ',? *[0-9]+$', '') as curve,
    row.row_id,
    target_name,
    if(row.method = 'other', regexp_extract(note, '^[^.;,]+'), row.method_label) as method_label,
    thinking, task, row.depth, value as tokens_per_round
  from published_row as row
  join published_figure using (source, row_id)
  where kind = 'acceptance' and quantity = 'tokens_per_round' and row.depth is not null
),
predicted as (
  select
    curves.* exclude (depth, tokens_per_round),
    device, backend, line_label, depth, curves.tokens_per_round, round_cost,
    curves.tokens_per_round / round_cost as predicted_speedup
  from curves
  join costs using (depth)
)
select *
from predicted
qualify row_number() over (
  partition by device, backend, source, curve order by predicted_speedup desc, depth
) = 1
order by device, backend, predicted_speedup desc, curve;
