-- One row is how many tokens a round of a method yields for one model at one depth, as published
-- without a speed: acceptance belongs to the model, and the machine matters little.
select
  target_name as target,
  method,
  depth,
  avg(figure.value) as tokens,
  any_value(source_title order by source_title) as source
from published_row
join published_figure as figure using (source, row_id)
where
  published_row.kind = 'acceptance' and figure.quantity = 'tokens_per_round'
  and method <> 'other' and depth is not null
group by target_name, method, depth
order by target_name, method, depth;
