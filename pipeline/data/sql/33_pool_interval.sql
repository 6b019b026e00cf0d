-- One row is the 95 % interval of one measure of one pool: contributors are clusters, in which
-- their machines and files are nested. A cell has too few votes to estimate the spread between
-- contributors. The spread is therefore estimated from all other cells of the same tier with
-- several votes of known contributors, because unknown accounts could widen it. The prior is 6
-- % (2.5 % for machines, 2 % for files) with the weight of 4 degrees of freedom, a scaled
-- inverse chi-square distribution (Gelman et al., Bayesian Data Analysis, 2.6). Other cells
-- have a weight of at most 20, so that a cell with an unusual spread shows it. With 8 votes or
-- more, the bounds of the median's interval are interpolated between values of the ordered
-- sample (Hettmansperger and Sheather 1986, Statistics & Probability Letters 4, 75-79).
-- `contributor_spread` is the expected spread between independent contributors in this measure.
-- Everything is computed on logarithms; `python -m bench.cells` measures the coverage.
create table pool_interval as
with voted as (
  select
    *,
    ln(ratio) as figure,
    -- The standard error over the prompts; 0 if unknown.
    coalesce(if(prompts > 1, half_width / t_reach(prompts - 1), 0), 0) as error
  from vote
),
pooled as (
  select
    pool,
    measure,
    bool_or(known) as known,
    any_value(tier) as tier,
    count(*) as votes,
    favg(figure) as centre,
    coalesce(var_samp(figure), 0) as variance,
    -- The variance of a vote over its prompts; 0 if all votes have the same prompts and so share
    -- the variance.
    if(any_value(shared), 0, favg(error ** 2)) as noise,
    favg(
      0.06 ** 2 + 0.025 ** 2 * median_variance(machines) + 0.02 ** 2 * median_variance(files)
    ) / 2 as prior,
    sqrt(favg(half_width ** 2)) as half_width,
    bool_and(shared) as same_tasks,
    list(figure order by figure) as figures
  from voted
  group by pool, measure
),
several as (
  select pool, measure, tier, votes - 1 as freedom, (variance - noise) * (votes - 1) as squares
  from pooled
  where votes > 1 and known
),
tiers as (
  select tier, measure, fsum(squares) as squares, sum(freedom)::bigint as freedom
  from several
  group by tier, measure
),
comparing as (
  select distinct tier, measure, voter from vote semi join several using (pool, measure)
),
-- The number of contributors in cells of several votes, without the pool's contributors.
others as (
  select
    vote.pool,
    vote.measure,
    (
      select count(*) from comparing as every
      where every.tier = any_value(vote.tier) and every.measure = vote.measure
    ) - count(comparing.voter) as contributors
  from vote
  left join comparing using (tier, measure, voter)
  group by vote.pool, vote.measure
),
seen as (
  select
    pooled.pool,
    pooled.measure,
    pooled.prior,
    least(tiers.freedom - coalesce(several.freedom, 0), others.contributors, 20) as seen_freedom,
    greatest(0, tiers.squares - coalesce(several.squares, 0))
      / (tiers.freedom - coalesce(several.freedom, 0)) as squared
  from pooled
  join others using (pool, measure)
  left join tiers using (tier, measure)
  left join several using (pool, measure)
),
spread as (
  select
    pool,
    measure,
    4 + coalesce(seen_freedom, 0) as freedom,
    -- The observed spread is rounded up to 0.1 %, so that a new vote rarely changes all cells.
    (
      if(seen_freedom > 0, seen_freedom * (ceil(sqrt(squared) / 0.001 - 1e-9) * 0.001) ** 2, 0)
        + 4 * prior
    ) / (4 + coalesce(seen_freedom, 0)) as between
  from seen
),
reached as (
  select
    *,
    case
      when votes = 1 then 'one-contributor'
      when votes < 8 then 't'
      else 'order'
    end as interval_kind,
    -- For one vote: the spread between contributors, and the vote's interval.
    sqrt(t_reach(freedom) ** 2 * between + half_width ** 2) as alone,
    -- For several votes: their spread, and the error that more contributors do not reduce, because
    -- all ran the same prompts.
    sqrt(
      t_reach(freedom + votes - 1) ** 2
        * (freedom * (between + noise) + (votes - 1) * variance) / (freedom + votes - 1) / votes
        + if(same_tasks, coalesce(half_width, 0) ** 2, 0)
    ) as together
  from pooled
  join spread using (pool, measure)
  left join input_median using (votes)
)
select
  pool,
  measure,
  case interval_kind
    when 'one-contributor' then exp(centre - alone)
    when 't' then exp(centre - together)
    else exp(interpolated(figures, position))
  end as interval_low,
  case interval_kind
    when 'one-contributor' then exp(centre + alone)
    when 't' then exp(centre + together)
    else exp(interpolated(list_reverse(figures), position))
  end as interval_high,
  interval_kind,
  sqrt(between) as contributor_spread
from reached
where votes > 1 or half_width is not null
order by pool, measure;
