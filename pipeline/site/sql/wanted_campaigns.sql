-- One row is one campaign that would fill cells: the sixty that tell most, of so many `campaigns`
-- with so many `empty` and `thin` cells.
select
  *,
  count(*) over () as campaigns,
  sum(coalesce(len(empty_tasks), 0)) over ()::bigint as empty,
  sum(coalesce(len(thin_tasks), 0)) over ()::bigint as thin
from wanted
order by rowid
limit 60;
