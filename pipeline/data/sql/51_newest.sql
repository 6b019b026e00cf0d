-- One row is one submission that counts, newest first; `recency` counts from 1.
create table newest as
select
  row_number() over (order by measured_from desc, submission) as recency,
  *
from submission_overview
where counted
order by recency;
