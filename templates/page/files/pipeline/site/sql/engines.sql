-- One row is an engine with the results that count.
select
  engine_label as engine,
  count(*) as submissions
from submission_overview
where counted
group by engine_label
order by submissions desc, engine_label;
