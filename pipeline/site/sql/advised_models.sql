-- One row is one target in one quantisation that the advisor learned from, as its first observation
-- names it.
select
  target || '|' || quantisation_slug as id,
  target,
  quantisation_slug as quantisation,
  first(target_label || ' ' || quantisation order by observation) as label,
  first(size_order order by observation) as size,
  first(step_bytes order by observation) as step_bytes,
  bool_or(mixture) as mixture
from advice_observation
group by target, quantisation_slug
order by id;
