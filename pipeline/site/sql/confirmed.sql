-- One row counts the measured cells of single tasks, those of them that are confirmed, and the
-- confirmed losses.
select
  count(*) as cells,
  count(*) filter (confirmed) as confirmed,
  count(*) filter (confirmed and loses(verdict)) as losses
from cell
where tier = 'measured' and task <> 'all';
