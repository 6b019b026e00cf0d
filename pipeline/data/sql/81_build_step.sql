-- One row is one setting over all tasks under one engine build, and how it compares with the build
-- before on the same machine of the same contributor. `step` is a detected change of the speedup: the intervals on
-- these very prompts (over all others where they are unknown) are disjoint, since both builds ran
-- the same ones, and the ratio is at least 5 % either way. The baseline's rate is listed too, because
-- a speedup also falls where plain decoding got faster.
create table build_step as
with built as (
  select
    concat_ws('-', lower(replace(voter, '@', '-')), device, backend, runner, target,
      quantisation_slug, setting, 'c' || concurrency, conditions, suite_label) as series,
    voter, device, device_label, backend, runner, engine_name, engine_build,
    target, target_label, quantisation, method, method_label, depth, draft_label,
    speedup, interval_low, interval_high, stated_request, stated_request_low, stated_request_high, verdict,
    coalesce(speedup / exp(repeatable_within), interval_low) as own_low,
    coalesce(speedup * exp(repeatable_within), interval_high) as own_high, baseline_tps, tps, submission, measured_from
  from pool_member
  where pool_kind = 'cell' and task = 'all' and tier = 'measured'
    and speedup is not null
),
newest as (
  select *
  from built
  qualify row_number() over (
    partition by series, engine_build order by measured_from desc, submission
  ) = 1
),
compared as (
  select
    *,
    count(*) over (partition by series) as builds,
    row_number() over in_time as build_order,
    lag(engine_build) over in_time as engine_build_before,
    speedup / lag(speedup) over in_time as speedup_change,
    baseline_tps / lag(baseline_tps) over in_time as baseline_change,
    lag(own_low) over in_time as low_before,
    lag(own_high) over in_time as high_before
  from newest
  -- Builds that were measured in turns have nearly the same start: their numbers order them.
  window in_time as (
    partition by series
    order by measured_from::date,
      try_cast(nullif(regexp_extract(engine_build, '[0-9]+$'), '') as bigint) nulls first,
      measured_from, engine_build
  )
)
select
  * exclude (own_low, own_high, low_before, high_before),
  case
    when own_low > high_before and speedup_change >= 1.05::double then 'faster'
    when own_high < low_before and speedup_change <= 1 / 1.05::double then 'slower'
  end as step
from compared
order by series, build_order;
