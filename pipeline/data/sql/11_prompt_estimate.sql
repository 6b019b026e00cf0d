-- One row is one submission's estimate of one arm on one prompt: paired medians over blocks.
create table prompt_estimate as
with listed as (
  select submission, unnest(summary.prompts) as estimate
  from submission_document
)
select submission, estimate.*
from listed
order by submission, estimate.arm, estimate.prompt;
