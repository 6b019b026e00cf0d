-- One row is one pool in which one contributor on one machine has more than one vote.
select pool.pool, pool.votes, count(distinct pool_member.voter) as voters
from pool
join pool_member using (pool)
group by pool.pool, pool.votes
having pool.votes > count(distinct pool_member.voter);
