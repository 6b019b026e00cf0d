-- One row is one public source whose figures were lost or duplicated on the way
-- into the view.
with expected as (
  select
    document.source.id as source,
    list_sum(list_transform(document.rows, lambda entry: len(coalesce(entry.figures, []))))::bigint
      as figures
  from published_document
  where document.checked_by is not null
),
shown as (
  select source, count(quantity) as figures from published_view group by source
)
select source, expected.figures, shown.figures as shown_figures
from expected
left join shown using (source)
where shown.figures is distinct from expected.figures;
