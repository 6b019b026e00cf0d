-- One row is the tokens that a round of a method yields for one model at one depth, as published
-- without a speed.
select
  target_label as target,
  method,
  depth,
  avg(tokens_per_round) as tokens,
  any_value(source.title order by source.title) as source
from acceptance_curve
join source using (source)
where tier = 'published' and method <> 'other'
group by target_label, method, depth
order by target_label, method, depth;
