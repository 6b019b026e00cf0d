-- One row is one setting over all tasks under one engine build, of one contributor on one machine
-- (`series`): the newest campaign under that build, with the build's position among the builds.
create table build_series as
with built as (
  select
    concat_ws('-', lower(replace(voter, '@', '-')), device, backend, runner, target,
      quantisation_slug, setting, 'c' || concurrency, conditions, suite_label) as series,
    voter, device, device_label, backend, runner, engine_name, engine_build,
    target, target_label, quantisation, method, method_label, depth, draft_label,
    speedup, interval_low, interval_high, stated_request, stated_request_low, stated_request_high,
    verdict, baseline_tps, tps, submission, arm, measured_from
  from pool_member
  where task = 'all' and tier = 'measured' and speedup is not null
),
newest as (
  select *
  from built
  qualify row_number() over (
    partition by series, engine_build order by measured_from desc, submission
  ) = 1
)
select
  *,
  count(*) over (partition by series) as builds,
  row_number() over in_time as build_order
from newest
-- Builds that were measured alternately start at nearly the same time, so build numbers determine
-- their order.
window in_time as (
  partition by series
  order by measured_from::date,
    try_cast(nullif(regexp_extract(engine_build, '[0-9]+$'), '') as bigint) nulls first,
    measured_from, engine_build
)
order by series, build_order;
