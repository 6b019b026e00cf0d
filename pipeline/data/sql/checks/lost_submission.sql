-- One row is one accepted submission without exactly one setup, or an id that
-- occurs twice.
with counted as (
  select submission, count(*) as setups from setup group by submission
)
select submission_document.submission, counted.setups
from submission_document
left join counted using (submission)
where counted.setups is distinct from 1;
