-- One row is one checked rate or ratio of a public source (stated_rate).
create table published_rate as
select * exclude (row_date, checked_by, reported_by)
from stated_rate
where checked_by is not null and speedup is not null
order by source, position;
