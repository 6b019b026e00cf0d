-- One row is one figure of a checked row of a public source.
create table published_figure as
select stated_figure.*
from stated_figure
semi join published_row using (source, row_id)
order by source, position, figure_position;
