-- One row is one row of a public source that a maintainer has compared with the source. Whatever is
-- not on the list of unchecked figures is derived from these rows only.
create table published_row as
from stated_row
where checked_by is not null
order by source, position;
