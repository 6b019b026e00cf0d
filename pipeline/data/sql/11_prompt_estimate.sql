-- One row is one submission's estimate of one arm on one prompt: paired medians over blocks.
create table prompt_estimate as
select submission, unnest(summary.prompts, max_depth := 2)
from submission_document
order by all;
