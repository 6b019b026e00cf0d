-- One row is one prompt of one submission's suite.
create table prompt as
with listed as (
  select submission, unnest(document.suite.prompts) as prompt
  from submission_document
)
select
  submission,
  prompt.id as prompt,
  prompt.task,
  prompt.tokens as prompt_tokens,
  prompt.rendered_sha256
from listed
order by submission, prompt;
