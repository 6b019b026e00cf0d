-- One row is one submission that is in a pool of evidence although it no longer counts.
select distinct pool_member.submission, pool_member.pool
from pool_member
join standing using (submission)
where not standing.counted;
