-- One row is one pool in which one contributor has more than one vote.
select
  pool.pool,
  pool.votes,
  count(distinct account_of(pool_member.contributor)) as contributors
from pool
join pool_member using (pool)
group by pool.pool, pool.votes
having pool.votes > contributors;
