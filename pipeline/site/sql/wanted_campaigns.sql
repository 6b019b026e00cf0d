-- One row is one campaign that is wanted: the most wanted one of each device.
with placed as (
  select *, row_number() over (order by wanted desc, devices desc, device_label, target) as place
  from wanted
)
select * exclude (place)
from placed
qualify place = min(place) over (partition by device_label)
order by place;
