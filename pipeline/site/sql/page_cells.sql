-- One row is one cell of a device, or of a target (`$kind` names which): what known people have
-- shown first, measured before imported, and of that what is certainly fastest; of so many `listed`
-- the first 20, so that a page stays light. Explore has all.
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
