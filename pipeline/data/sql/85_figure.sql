-- One row is one person's figure for one setting of a device and a model on one task, with its own
-- rates. A setting without a figure over all tasks is shown under all tasks with each of its single
-- tasks (`view` is the task that is shown, `task` the task that was run). `condition` is the reason
-- to leave a figure out of the usual rows: several requests at once, a long prompt, or very short
-- answers. `lesser` figures have doubts or a model partly in main memory; `sure` figures have no
-- doubt at all, and are not from before 2025, since when engines and heads have changed too much.
-- `collected` figures are measured, or chosen by maintainers. A figure that came by the form counts
-- beside them, but displaces none, and decides no usual setting of other devices. `address` is the
-- source's.
-- Figures that are not `newest` were measured with an older version of the suite. Measured and
-- imported figures are the deciding ones, with `backing` as in `pool`. `candidate` is the name of a
-- measured or imported figure in the table `best`.
create table figure as
with own as (
  select
    tier, device, target, backend, engine_label as engine, method, depth, draft_label, quantisation,
    task, pool as candidate, null as source, null as row_id, suite_label, false as confounded,
    false as lesser, true as sure, false as offload,
    null as condition, account_of(contributor) as person,
    pool_member.speedup, pool_member.baseline_tps, conditions as cache, backing,
    true as collected, null as address
  from pool_member
  join pool using (pool)
  where concurrency = 1
    and usual(conditions)
    and decides
    and pool_member.speedup is not null
    and pool_member.verdict <> 'never-drafted'
  union all
  select
    tier, device, target, backend, engine_label, method, depth, draft_label, quantisation, task,
    candidate, null, null, suite_label, false, false, true, false, null, submission, speedup,
    baseline_tps, conditions, backing, true, null
  from candidate
  where kind = 'arm' and own_tasks and shown
),
printed as (
  select
    tier, device, target, rate.backend, rate.engine_name as engine, rate.method, rate.depth,
    draft_label, rate.quantisation, coalesce(rate.task, 'all') as task, null as candidate,
    rate.source, row_id, null as suite_label,
    len(rate.also_differs) > 0 as confounded,
    coalesce(len(rate.doubts), 0) > 0 or rate.offload is not null as lesser,
    coalesce(published_row.row_date, '') not between '0' and '2025' and not confounded
      and not lesser as sure,
    rate.offload is not null as offload,
    case
      when rate.concurrency > 1 then 'streams'
      when rate.prompt_tokens >= 2000 then 'context'
      when max_output_tokens < 32 then 'limited'
    end as condition,
    coalesce(rate.contributor, source.author, source.publisher, rate.source) as person,
    speedup, rate.baseline_tps, null as cache, 0 as backing, reported_by is null as collected,
    regexp_replace(coalesce(source.url, source.title), '[?#].*', '') as address
  from published_rate as rate
  join published_row using (source, row_id)
  join source on source.source = rate.source
  where speedup is not null and target is not null
),
seen as (
  select
    *,
    suite_version(suite_label) = max(suite_version(suite_label)) over pair as newest,
    unnest(
      if(
        bool_or(task = 'all' and collected) over (pair_and_method),
        [task], list_distinct([task, 'all'])
      )
    ) as view
  from (from own union all from printed)
  window
    pair as (partition by tier, device, target, backing),
    pair_and_method as (partition by tier, device, target, method, condition, backing)
)
select
  row_number() over (
    order by tier = 'published', tier = 'imported', device, target, view, task, backend, method,
      depth, candidate, source, row_id, person, speedup
  ) as figure,
  * exclude (suite_label)
from seen
order by figure;
