-- One row is one pool of the advisor: how many voters, their mean logarithm, the sum of the squared
-- distances from it, the mean logarithm of what their bytes cost with its variance between voters,
-- and up to three of the newest submissions behind it.
create table advice_pool as
with voted as (
  select
    advice_pool,
    any_value(part) as part,
    any_value(level) as level,
    any_value(method) as method,
    count(*) as votes,
    avg(mean_log) as mean_log,
    coalesce(var_pop(mean_log) * count(*), 0.0)::double as squares,
    avg(bytes_log) as bytes_log,
    coalesce(var_samp(bytes_log), 0.0)::double as bytes_variance
  from advice_vote
  group by advice_pool
),
listed as (
  select distinct advice_pool, unnest(submission_list) as submission from advice_member
),
behind as (
  select
    listed.advice_pool,
    list(listed.submission order by setup.measured_from desc, listed.submission)[:3] as nearest
  from listed
  join setup using (submission)
  group by listed.advice_pool
)
select voted.*, behind.nearest
from voted
join behind using (advice_pool)
order by advice_pool;
