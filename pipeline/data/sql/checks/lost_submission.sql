-- One row is one accepted submission without exactly one setup, or an id that
-- occurs twice.
with counted as (
  select submission, count(*) as setups from setup group by submission
)
select loaded.submission, counted.setups
from loaded
left join counted using (submission)
where counted.setups is distinct from 1;
