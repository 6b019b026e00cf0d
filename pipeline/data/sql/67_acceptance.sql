-- One row is the acceptance of drafts for one target with one method, draft, depth, task, engine
-- and build: the median over people of each person's median, and its least and most. It is the
-- share of drafted tokens, or of the tokens of a round beyond the first. Acceptance depends on the
-- models and the text but not on the device. One person may have many figures.
create table acceptance as
with stated as (
  select
    source,
    row_id,
    min(value) filter (quantity = 'tokens_per_round') as tokens,
    min(value) filter (quantity <> 'tokens_per_round') as share
  from published_figure
  where
    quantity in ('tokens_per_round', 'acceptance_rate', 'pooled_acceptance_rate')
    and qualifier is null and high is null
  group by all
),
figures as (
  select
    target_name as target_label,
    row.draft_name as draft_label,
    row.method,
    row.method_label,
    row.depth,
    coalesce(row.task, 'all') as task,
    row.engine_name,
    row.engine_version as engine_build,
    coalesce(row.contributor, row.author, row.publisher, row.source) as person,
    coalesce(share, (tokens - 1) / row.depth) as acceptance_rate
  from published_row as row
  join stated using (source, row_id)
  where target_name is not null and method_label is not null
  union all by name
  select
    target_label,
    draft_label,
    method,
    method_label,
    depth,
    task,
    engine_name,
    engine_build,
    coalesce(contributor, submission) as person,
    coalesce(acceptance_rate, (tokens_per_round - 1) / depth) as acceptance_rate
  from evidence
  where counted and role = 'speculation' and outcome = 'ok' and task <> 'own'
),
people as (
  select
    * exclude (acceptance_rate), median(acceptance_rate) as acceptance_rate, count(*) as results
  from figures
  where acceptance_rate between 0 and 1
  group by all
)
select
  slug_of(target_label) as target,
  * exclude (person, acceptance_rate, results),
  count(*) as people,
  sum(results)::bigint as figures,
  median(acceptance_rate) as acceptance_rate,
  min(acceptance_rate) as acceptance_least,
  max(acceptance_rate) as acceptance_most
from people
group by all
order by
  target, people desc, figures desc, method, draft_label, depth, task, engine_name,
  engine_build;
