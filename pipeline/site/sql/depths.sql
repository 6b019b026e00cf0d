-- One row is one depth of a pair with several depths, on one `$device` or of one `$target`.
-- Figures are measured and imported over all tasks under usual conditions; for devices,
-- also published ratios with nothing else changed. `best` marks the depth with the highest
-- lower bound (or the highest figure if no depth has an interval), among depths whose whole
-- request is not clearly slower.
with figures as (
  select
    device, target, tier, depth, method, method_label, speedup, interval_low, interval_high,
    stated_request, slower_request, verdict, verdict_label(mark) as verdict_label,
    concat_ws(' · ', if($device = 'all', device_label, null),
      if($target = 'all', target_label || ' ', '') || quantisation, method_label, draft_label,
      backend,
      nullif(tier, 'measured'), nullif(concurrency, 1) || ' at once', other_engine(engine_label)
    ) as line_label
  from cell
  where task = 'all' and speedup is not null and depth is not null and verdict <> 'never-drafted'
    and conditions is null
  union all
  select
    device, null, tier, depth, method, method_label, speedup, null, null,
    null, false, null, null,
    concat_ws(' · ', if($device = 'all', device_label, null),
      concat_ws(' ', target_label, quantisation), method_label, draft_label, backend,
      tier, contributor) as line_label
  from published_pair
  where depth is not null and len(also_differs) = 0 and len(doubts) = 0 and offload is null
),
merged as (
  select
    line_label,
    depth,
    any_value(tier) as tier,
    any_value(method) as method,
    any_value(method_label) as method_label,
    median(speedup) as speedup,
    if(count(*) = 1, any_value(interval_low), null) as interval_low,
    if(count(*) = 1, any_value(interval_high), null) as interval_high,
    if(count(*) = 1, any_value(stated_request), null) as stated_request,
    bool_and(slower_request) as slower_request,
    if(count(*) = 1, any_value(verdict), null) as verdict,
    if(count(*) = 1, any_value(verdict_label), null) as verdict_label,
    count(*) as figures
  from figures
  where $device in ('all', device) and $target in ('all', target)
  group by line_label, depth
)
select
  *,
  row_number() over (
    partition by line_label
    order by slower_request, interval_low is null, coalesce(interval_low, speedup) desc, depth
  ) = 1 and not slower_request as best
from merged
qualify count(*) over (partition by line_label) > 1
order by max(coalesce(interval_low, speedup)) over (partition by line_label) desc, line_label, depth
limit 60;
