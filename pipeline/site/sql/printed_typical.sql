-- One row is what published ratios come to, each device by its median; none without such a ratio.
with by_device as (
  select device, exp(median(ln(speedup))) as speedup
  from published_pair
  where speedup is not null and len(coalesce(also_differs, [])) = 0
  group by device
)
select
  count(*) as devices,
  exp(median(ln(speedup))) as speedup,
  min(speedup) as lowest,
  max(speedup) as highest
from by_device
having count(*) > 0;
