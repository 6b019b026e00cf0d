-- One row is one arm of a submission with several requests in flight: its rates
-- per stream and in total.
create table throughput as
with listed as (
  select submission, unnest(summary.throughput) as measured
  from submission_document
)
select
  submission,
  measured.* exclude ("interval"),
  measured."interval".low as total_low,
  measured."interval".high as total_high
from listed
order by submission, measured.concurrency, measured.arm;
