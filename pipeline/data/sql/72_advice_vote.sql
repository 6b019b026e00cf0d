-- One row is one vote in one pool of the advisor: the mean logarithm over a voter's observations.
create table advice_vote as
select
  advice_pool,
  voter,
  any_value(part) as part,
  any_value(level) as level,
  any_value(method) as method,
  avg(log_value) as mean_log,
  avg(bytes_log) as bytes_log
from advice_member
group by advice_pool, voter
order by advice_pool, voter;
