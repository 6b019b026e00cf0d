-- One row is one pool in which measured and imported evidence met.
select pool, list(distinct tier) as tiers
from pool_member
group by pool
having count(distinct tier) > 1;
