-- One row is one depth of a pair with several depths, at one `place`: a device or, if `$by` is
-- `target`, a target. Figures are measured and imported over all tasks under usual conditions; for
-- devices, also published ratios with nothing else changed. `best` marks the depth with the highest
-- lower bound (or the highest figure if no depth has an interval), among depths whose whole
-- request is not clearly slower.
with figures as (
  select
    if($by = 'target', target, device) as place,
    tier, depth, method, method_label, speedup, interval_low, interval_high,
    stated_request, slower_request, verdict, verdict_label(mark) as verdict_label,
    concat_ws(' · ', if($by = 'target', device_label, null),
      if($by = 'target', '', target_label || ' ') || quantisation, method_label, draft_label,
      backend,
      nullif(tier, 'measured'), nullif(concurrency, 1) || ' at once', other_engine(engine_label)
    ) as line_label
  from cell
  where task = 'all' and speedup is not null and depth is not null and verdict <> 'never-drafted'
    and conditions is null
  union all
  select
    device, tier, depth, method, method_label, speedup, null, null,
    null, false, null, null,
    concat_ws(' · ', concat_ws(' ', target_label, quantisation), method_label, draft_label, backend,
      tier, contributor) as line_label
  from published_pair
  where depth is not null and len(also_differs) = 0 and len(doubts) = 0 and offload is null
    and $by = 'device'
),
merged as (
  select
    place,
    line_label,
    depth,
    any_value(columns(['tier', 'method', 'method_label'])),
    median(speedup) as speedup,
    if(
      count(*) = 1,
      any_value(
        columns(['interval_low', 'interval_high', 'stated_request', 'verdict', 'verdict_label'])
      ),
      null
    ),
    bool_and(slower_request) as slower_request,
    count(*) as figures
  from figures
  group by place, line_label, depth
),
several as (
  select
    *,
    row_number() over (
      partition by place, line_label
      order by slower_request, interval_low is null, coalesce(interval_low, speedup) desc, depth
    ) = 1 and not slower_request as best,
    max(coalesce(interval_low, speedup)) over (partition by place, line_label) as highest
  from merged
  qualify count(*) over (partition by place, line_label) > 1
)
select * exclude highest
from several
qualify row_number() over (partition by place order by highest desc, line_label, depth) <= 60
order by place, highest desc, line_label, depth;
