-- One row is one wanted campaign, the most wanted campaign of each device.
with placed as (
  select *, row_number() over (order by wanted desc, devices desc, device_label, target) as position
  from wanted
)
select * exclude (position)
from placed
qualify position = min(position) over (partition by device_label)
order by position;
