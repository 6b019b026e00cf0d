-- One row is one arm on one task, measured on one device through two backends: the closest pair.
-- `speedup_ratio` is the speedup through the first backend over the speedup through the second.
create table backend_pair as
select
  one.device,
  one.device_label,
  one.target,
  one.target_label,
  one.quantisation,
  one.method,
  one.method_label,
  one.depth,
  one.draft_label,
  one.task,
  one.tier,
  one.setup as first_setup,
  one.backend as first_backend,
  one.speedup as first_speedup,
  one.interval_low as first_low,
  one.interval_high as first_high,
  one.stated_request as first_request,
  one.stated_request_low as first_request_low,
  one.stated_request_high as first_request_high,
  one.verdict as first_verdict,
  one.mark as first_mark,
  one.round_cost as first_round_cost,
  other.setup as second_setup,
  other.backend as second_backend,
  other.speedup as second_speedup,
  other.interval_low as second_low,
  other.interval_high as second_high,
  other.stated_request as second_request,
  other.stated_request_low as second_request_low,
  other.stated_request_high as second_request_high,
  other.verdict as second_verdict,
  other.mark as second_mark,
  other.round_cost as second_round_cost,
  one.speedup / other.speedup as speedup_ratio
from explore as one
join explore as other
  on one.device = other.device and one.backend < other.backend
  and one.target = other.target and one.quantisation = other.quantisation
  and one.method = other.method and one.depth is not distinct from other.depth
  and one.draft_label is not distinct from other.draft_label
  and one.engine_label = other.engine_label
  and one.concurrency is not distinct from other.concurrency
  and one.conditions is not distinct from other.conditions
  and one.suite_label is not distinct from other.suite_label
  and one.task = other.task and one.tier = other.tier
where one.speedup is not null and other.speedup is not null
order by abs(ln(speedup_ratio)) desc, one.cell, other.cell;
