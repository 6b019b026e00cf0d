-- One row is one observation next to what the advisor says without its voter, with the half-width
-- that the spreads of its levels give, widened by what the other folds of voters needed. Null where
-- nobody else has measured anything near.
-- log speedup = log tokens per round - log round cost; both variances add up, each for a new voter
-- (its level's variance times 1 + 1/votes); t with the smaller of the two degrees of freedom.
-- `score` is the distance over the half-width.
create table advice_score as
with part as (
  select
    advice_left_out.*,
    variance * (1 + 1.0::double / votes) * coalesce(widening, 1) ** 2 as part_variance
  from advice_left_out
  left join advice_level_widening as widened
    on widened.left_out = advice_left_out.fold
    and widened.level = advice_left_out.level
    and widened.method = advice_left_out.method
  where nearest
),
joined as (
  select
    advice_observation.*,
    (md5_number(advice_observation.voter) % 10)::bigint as fold,
    cost.level as cost_level,
    yielded.level as yield_level,
    cost.votes as cost_votes,
    yielded.votes as yield_votes,
    bytes_cost * exp(cost.others_log) as advised_round_cost,
    exp(yielded.others_log) as advised_tokens_per_round,
    yielded.others_log - cost.others_log - ln(bytes_cost) as advised_log,
    cost.part_variance + yielded.part_variance as variance,
    if(cost.freedom is null or yielded.freedom is null, null,
      least(cost.freedom, yielded.freedom)) as freedom
  from advice_observation
  left join part as cost
    on cost.observation = advice_observation.observation and cost.part = 'cost'
  left join part as yielded
    on yielded.observation = advice_observation.observation and yielded.part = 'yield'
)
select
  joined.*,
  sqrt(variance) * quantile as spread_half_width,
  if(spread_half_width > 0, abs(ln(speedup) - advised_log) / spread_half_width, null) as score
from joined
left join input_t_quantile using (freedom)
order by observation;
