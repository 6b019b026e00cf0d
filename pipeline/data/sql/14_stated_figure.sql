-- One row is one figure that a public source prints.
create table stated_figure as
with listed as (
  select
    document.source.id as source,
    unnest(document.rows) as entry,
    generate_subscripts(document.rows, 1) as position
  from published_document
),
figures as (
  select
    source,
    entry.id as row_id,
    position,
    unnest(entry.figures) as figure,
    generate_subscripts(entry.figures, 1) as figure_position
  from listed
)
select source, row_id, position, figure_position, figure.*
from figures
order by source, position, figure_position;
