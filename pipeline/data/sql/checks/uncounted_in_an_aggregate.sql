-- One row is one submission that no longer counts but is still in a pool of evidence.
select distinct pool_member.submission, pool_member.pool
from pool_member
join standing using (submission)
where not standing.counted;
