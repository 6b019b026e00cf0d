-- One row is one observation beside what the advisor says without its voter, with the half-width that
-- its spreads alone give. Null where nobody else has measured anything near.
-- log speedup = log tokens per round - log round cost; both variances add up, each for a new voter
-- (its level's variance times 1 + 1/votes); t with the smaller of the two degrees of freedom.
-- `fold` is one of ten groups that a voter belongs to, for ever.
create table advice_score as
with joined as (
  select
    advice_observation.*,
    cost.level as cost_level,
    yielded.level as yield_level,
    cost.votes as cost_votes,
    yielded.votes as yield_votes,
    bytes_cost * exp(cost.mean_log) as advised_round_cost,
    exp(yielded.mean_log) as advised_tokens_per_round,
    yielded.mean_log - cost.mean_log - ln(bytes_cost) as advised_log,
    cost.variance * (1 + 1.0::double / cost.votes)
      + yielded.variance * (1 + 1.0::double / yielded.votes) as variance,
    if(cost.freedom is null or yielded.freedom is null, null,
      least(cost.freedom, yielded.freedom)) as freedom
  from advice_observation
  left join advice_left_out as cost
    on cost.observation = advice_observation.observation and cost.part = 'cost'
  left join advice_left_out as yielded
    on yielded.observation = advice_observation.observation and yielded.part = 'yield'
)
select
  joined.*,
  sqrt(variance) * incoming_t_quantile.quantile as spread_half_width,
  (md5_number(voter) % 10)::bigint as fold
from joined
left join incoming_t_quantile using (freedom)
order by observation;
