-- One row is one submission that no longer counts and is in a pool of evidence all the same.
select distinct pool_member.submission, pool_member.pool
from pool_member
join standing using (submission)
where not standing.counted;
