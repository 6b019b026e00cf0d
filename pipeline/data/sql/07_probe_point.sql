-- One row is one point of one submission's verification curve: a target step of one width.
create table probe_point as
with probed as (
  select submission, document.probes.verification as curve
  from submission_document
),
listed as (
  select
    submission,
    curve.context_tokens as probe_context_tokens,
    curve.repeats,
    unnest(curve.widths) as width,
    unnest(curve.step_ms_median) as step_ms
  from probed
)
select
  *,
  step_ms / first_value(step_ms) over (partition by submission order by width) as step_ratio
from listed
order by submission, width;
