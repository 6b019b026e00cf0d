-- One row is the 95 % interval of one measure of one pool: contributors are clusters, and their
-- machines and files are nested in them. A cell has too few votes to estimate how much contributors
-- differ, so that is estimated over all other cells of its tier with several votes (of known
-- contributors alone, where there are any), in front of a prior: 6 % (2.5 % for
-- machines, 2 % for files) with the weight of 4 degrees of freedom, a scaled inverse chi-square
-- distribution (Gelman et al., Bayesian Data Analysis, 2.6). Other cells weigh at most
-- 20: a cell whose contributors differ more than usual shows it. From 8 votes on, the interval of
-- the median lies between two values of the ordered sample, interpolated (Hettmansperger and
-- Sheather 1986, Statistics & Probability Letters 4, 75-79). `contributor_spread` is by how much
-- independent contributors are expected to differ in this measure. All is computed on logarithms;
-- `python -m bench.cells` measures the coverage.
create table pool_interval as
with voted as (
  select
    *,
    ln(ratio) as figure,
    -- Standard error over the prompts; 0 where it is unknown.
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
    -- Variance of a vote over its prompts. Shared tasks differ alike for all, so not between.
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
  from (
    select *, bool_or(known) over (partition by tier, measure) as known_anywhere from pooled
  )
  where votes > 1 and known = known_anywhere
),
tiers as (
  select tier, measure, fsum(squares) as squares, sum(freedom)::bigint as freedom
  from several
  group by tier, measure
),
comparing as (
  select distinct tier, measure, voter from vote semi join several using (pool, measure)
),
-- How many contributors other than those of the pool there are in cells of several votes.
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
    -- The root of what is seen is rounded up to 0.1 %: else each new vote would move all cells.
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
    -- Of one vote: contributors, and its own interval.
    sqrt(t_reach(freedom) ** 2 * between + half_width ** 2) as alone,
    -- Of several: what they differ by, and what more contributors do not narrow, as all ran the
    -- same.
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
