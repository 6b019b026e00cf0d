-- One row is one trial: one generation of one arm on one prompt in one block, in running order.
create table trial as
with listed as (
  select submission, unnest(trials) as trial
  from submission_document
),
flat as (
  select submission, trial.* exclude ("order"), trial."order" as running_order
  from listed
),
suite as (
  select submission, map(list(prompt), list(task)) as tasks
  from prompt
  group by submission
)
select
  flat.submission,
  flat.running_order,
  flat.block,
  flat.arm,
  flat.prompt,
  suite.tasks[flat.prompt] as task,
  flat.* exclude (submission, running_order, block, arm, prompt),
  flat.output_tokens / nullif(flat.decode_ms, 0) * 1000 as decode_tps
from flat
left join suite using (submission)
order by submission, running_order;
