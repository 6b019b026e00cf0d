-- One row is one cell on the page Explore, with the newest deciding submission as its evidence.
-- `setup` names the cell without its task, and identifies an arm in shared links.
create table explore as
with newest as (
  select
    pool as cell,
    any_value(submission order by measured_from desc, submission) as submission,
    any_value(vendor order by measured_from desc, submission) as vendor,
    any_value(series order by submission) as series,
    any_value(
      columns([
        'context_depth', 'token_choice', 'answer_limit', 'cache_types', 'attention', 'loading'
      ])
    ),
    any_value(measured_with order by submission) as measured_with
  from pool_member
  join identity using (submission)
  where decides
  group by pool
)
select
  cell.*,
  md5(concat_ws('|', device, backend, target, quantisation, method, coalesce(depth, 0),
    coalesce(draft_label, ''), coalesce(concurrency, 1), tier, other_engine(engine_label),
    suite_label, conditions))[:10]
    as setup,
  newest.* exclude (cell)
from cell
join newest using (cell)
order by task = 'all', speedup desc nulls last, cell;
