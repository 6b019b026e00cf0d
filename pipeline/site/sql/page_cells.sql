-- One row is one cell of a device, or of a target (by `$kind`): cells of known people first,
-- measured before imported, then by certain gain. Only the first 20 of `listed` cells are
-- kept, so that a page is light; Explore has all cells.
with ranked as (
  select
    *,
    count(*) over (partition by if($kind = 'device', device, target)) as listed,
    row_number() over (
      order by backing, tier = 'measured' desc, interval_low desc nulls last,
        speedup desc nulls last, cell
    ) as place
  from cell
)
select * exclude (place)
from ranked
qualify row_number() over (partition by if($kind = 'device', device, target) order by place) <= 20
order by place;
