-- One row is one figure of a public source with its configuration; a row without figures has one
-- row here with a null quantity. Published figures are never averaged with anything.
create table published_view as
select
  published_row.*,
  published_figure.* exclude (source, row_id, position)
from published_row
left join published_figure using (source, row_id, position)
order by source, position, figure_position nulls first;
