-- One row is the interval of one pool, found by `pipeline/data/pools.py` from its votes.
-- `contributor_spread` is by how much independent contributors are expected to differ.
create table pool_interval as
select pool, interval_low, interval_high, interval_kind, contributor_spread
from incoming_interval
order by pool;
