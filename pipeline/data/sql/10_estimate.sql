-- One row is what one submission says about one arm on one task; task is null over all tasks.
create table estimate as
with listed as (
  select submission, unnest(summary.estimates) as estimate
  from submission_document
)
select
  submission,
  estimate.* exclude (
    "interval", bootstrap, repeatability, cpu_interval, exactness, over_alternative_interval,
    whole_request_interval
  ),
  estimate."interval".low as interval_low,
  estimate."interval".high as interval_high,
  estimate.bootstrap.low as bootstrap_low,
  estimate.bootstrap.high as bootstrap_high,
  estimate.whole_request_interval.low as whole_request_low,
  estimate.whole_request_interval.high as whole_request_high,
  estimate.over_alternative_interval.low as over_alternative_low,
  estimate.over_alternative_interval.high as over_alternative_high,
  estimate.repeatability.low as repeatability_low,
  estimate.repeatability.high as repeatability_high,
  estimate.cpu_interval.low as cpu_interval_low,
  estimate.cpu_interval.high as cpu_interval_high,
  estimate.exactness.identical,
  estimate.exactness.diverged_near_tie,
  estimate.exactness.diverged,
  estimate.exactness.not_compared
from listed
order by submission, estimate.arm, estimate.task nulls first;
