-- One row is one cell of a device, or of a target (`$kind` names which), measured ones first and
-- of those what is certainly fastest; of so many `listed` the first 20, so that a page stays
-- light. Explore has all.
select *, count(*) over page as listed
from cell
window page as (partition by if($kind = 'device', device, target))
qualify row_number() over (
  partition by if($kind = 'device', device, target)
  order by tier = 'measured' desc, interval_low desc nulls last, speedup desc nulls last, cell
) <= 20
order by tier = 'measured' desc, interval_low desc nulls last, speedup desc nulls last, cell;
