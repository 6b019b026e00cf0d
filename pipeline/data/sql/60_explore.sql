-- One row is one cell on the page Explore, with the newest deciding submission as its evidence.
-- `setup` names the cell without its task, and identifies an arm in shared links.
create table explore as
with members as (
  select
    pool_member.*,
    identity.vendor,
    identity.context_depth,
    identity.token_choice,
    identity.answer_limit,
    identity.cache_types,
    identity.attention,
    identity.loading,
    identity.measured_with
  from pool_member
  join identity using (submission)
  where decides
),
newest as (
  select
    pool as cell,
    any_value(submission order by measured_from desc, submission) as submission,
    any_value(vendor order by measured_from desc, submission) as vendor,
    any_value(series order by submission) as series,
    any_value(context_depth) as context_depth,
    any_value(token_choice) as token_choice,
    any_value(answer_limit) as answer_limit,
    any_value(cache_types) as cache_types,
    any_value(attention) as attention,
    any_value(loading) as loading,
    any_value(measured_with order by submission) as measured_with
  from members
  group by pool
)
select
  cell.*,
  md5(concat_ws('|', device, backend, target, quantisation, method, coalesce(depth, 0),
    coalesce(draft_label, ''), coalesce(concurrency, 1), tier, other_engine(engine_label),
    suite_label, conditions))[:10]
    as setup,
  newest.submission,
  newest.vendor,
  newest.series,
  newest.context_depth,
  newest.token_choice,
  newest.answer_limit,
  newest.cache_types,
  newest.attention,
  newest.loading,
  newest.measured_with
from cell
join newest using (cell)
order by task = 'all', speedup desc nulls last, cell;
