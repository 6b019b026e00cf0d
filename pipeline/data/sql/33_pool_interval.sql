-- One row is the interval of one pool, found by `pipeline/data/aggregate.py` from its votes.
create table pool_interval as
select pool, interval_low, interval_high, interval_kind
from incoming_interval
order by pool;
