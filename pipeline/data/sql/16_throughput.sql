-- One row is one arm of a submission that had several requests in flight: one stream, and in total.
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
comment on column throughput.concurrency is '{"label": "Concurrency", "unit": "requests", "direction": "none"}';
comment on column throughput.passes is '{"label": "Whole passes", "unit": "passes", "direction": "higher"}';
comment on column throughput.stream_tps is '{"label": "Rate of one stream", "unit": "tokens/s", "direction": "higher"}';
comment on column throughput.total_tps is '{"label": "Rate of all streams", "unit": "tokens/s", "direction": "higher"}';
comment on column throughput.total_speedup is '{"label": "Speedup of the total", "unit": "×", "direction": "higher"}';
comment on column throughput.total_low is '{"label": "Speedup of the total, lower bound", "unit": "×", "direction": "higher"}';
comment on column throughput.total_high is '{"label": "Speedup of the total, upper bound", "unit": "×", "direction": "higher"}';
