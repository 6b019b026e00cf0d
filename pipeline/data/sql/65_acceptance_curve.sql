-- One row is the tokens that a round yields for one model with one method at one depth, on one
-- task, with or without thinking. The value is published, or measured with drafts in every
-- round. A measured value is the median over people of each person's median, from `results`
-- submissions, of which one is named; if any people are known, only theirs count. `curve`
-- names the line over all depths. Acceptance depends on the model and the text, but little on
-- the machine.
create table acceptance_curve as
with published as (
  select
    'published' as tier,
    row.source,
    row.row_id,
    regexp_replace(row.place, ',? *[0-9]+$', '') as curve,
    target_name as target_label,
    row.method,
    if(row.method = 'other', regexp_extract(note, '^[^.;,]+'), row.method_label) as method_label,
    thinking,
    task,
    row.depth,
    figure.value as tokens_per_round
  from published_row as row
  join published_figure as figure using (source, row_id)
  where kind = 'acceptance' and figure.quantity = 'tokens_per_round' and row.depth is not null
),
decisive as (
  select
    evidence.*,
    coalesce(submission.thinking, false) as thinking,
    median(tokens_per_round) over person as tokens_of_person,
    row_number() over person = 1 as is_vote
  from evidence
  join submission using (submission)
  where counted and evidence.tier = 'measured' and role = 'speculation' and outcome = 'ok'
    and task not in ('all', 'own') and evidence.concurrency = 1 and depth > 0
    and tokens_per_round > 0 and drafts_always(method)
    and conditions is null
  window person as (
    partition by target_label, evidence.quantisation, method, method_label, draft_label,
      coalesce(submission.thinking, false), task, depth, account_of(evidence.contributor)
  )
  qualify known or not bool_or(known) over (
    partition by target_label, evidence.quantisation, method, method_label, draft_label, thinking,
      task, depth
  )
),
measured as (
  select
    'measured' as tier,
    null as source,
    null as row_id,
    concat_ws(
      ' · ', target_label || ' ' || quantisation, method_label, draft_label, task
    ) as curve,
    target_label,
    quantisation,
    method,
    method_label,
    draft_label,
    thinking,
    task,
    depth,
    median(tokens_of_person) filter (is_vote) as tokens_per_round,
    count(*) as results,
    arg_max(submission, (measured_from, submission)) as submission
  from decisive
  group by target_label, quantisation, method, method_label, draft_label, thinking, task, depth
)
from (from measured union all by name from published)
order by tier, source, curve, depth;
