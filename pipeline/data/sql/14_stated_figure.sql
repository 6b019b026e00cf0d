-- One row is one figure that a public source prints.
create table stated_figure as
with listed as (
  select
    document.source.id as source,
    unnest(document.rows) as entry,
    generate_subscripts(document.rows, 1) as position
  from published_document
)
select
  source,
  entry.id as row_id,
  position,
  generate_subscripts(entry.figures, 1) as figure_position,
  unnest(entry.figures, max_depth := 2)
from listed
order by source, position, figure_position;
