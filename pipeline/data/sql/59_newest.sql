-- One row is one submission that counts, newest first.
create table newest as
select *
from submission_overview
where counted
order by measured_from desc, submission;
