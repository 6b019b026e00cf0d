-- One row is one pool with both measured and imported evidence.
select pool, list(distinct tier) as tiers
from pool_member
group by pool
having count(distinct tier) > 1;
