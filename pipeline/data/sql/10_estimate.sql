-- One row is one submission's estimate of one arm on one task; a null `task`
-- means all tasks.
create table estimate as
with listed as (
  select submission, unnest(summary.estimates) as estimate
  from submission_document
)
select
  submission,
  estimate.* exclude (
    "interval", exactness, over_alternative_interval, whole_request_interval,
    stated_request_interval, pays_from
  ),
  estimate."interval".low as interval_low,
  estimate."interval".high as interval_high,
  estimate.whole_request_interval.low as whole_request_low,
  estimate.whole_request_interval.high as whole_request_high,
  estimate.stated_request_interval.low as stated_request_low,
  estimate.stated_request_interval.high as stated_request_high,
  estimate.pays_from.tokens as pays_from_tokens,
  estimate.pays_from.low as pays_from_low,
  estimate.pays_from.high as pays_from_high,
  estimate.over_alternative_interval.low as over_alternative_low,
  estimate.over_alternative_interval.high as over_alternative_high,
  estimate.exactness.identical,
  estimate.exactness.diverged_near_tie,
  estimate.exactness.diverged,
  estimate.exactness.not_compared
from listed
order by submission, estimate.arm, estimate.task nulls first;
