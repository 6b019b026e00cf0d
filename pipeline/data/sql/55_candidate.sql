-- One row is one figure that a page, a file or a feed may pick as the best of several: a cell of
-- single requests under the usual settings, an imported file's figure over its suite's own
-- tasks, or an arm of a submission over all tasks. Settings that never drafted have no row; nor
-- do arms whose trials mostly failed. For an arm, the whole request is the measured one; for a
-- cell, the stated one. `other_engine` is the fastest other engine on the same task, weights and
-- device without speculation, at `other_tps`; null unless that engine is faster than the
-- setting.
create table candidate as
with cells as (
  select 'cell' as kind, cell as candidate, false as own_tasks, * exclude (cell)
  from cell
  where concurrency = 1
    and usual(conditions)
    and speedup is not null
    and verdict <> 'never-drafted'
),
arms as (
  select
    'arm' as kind,
    submission || '|' || arm as candidate,
    task = 'own' as own_tasks,
    'all' as task,
    whole_request as stated_request,
    whole_request_low as stated_request_low,
    whole_request_high as stated_request_high,
    verdict = 'slower-in-all' as slower_request,
    false as confirmed,
    if(known, 0, 2) as backing,
    1 as votes,
    counted and tier = 'imported' and concurrency = 1 and usual(conditions) as shown,
    * exclude (
      contributor, task, stated_request, stated_request_low, stated_request_high,
      whole_request, whole_request_low, whole_request_high
    )
  from evidence
  where role = 'speculation' and task in ('all', 'own') and speedup is not null
    and verdict <> 'never-drafted' and failed_trials <= trials
),
listed as (
  select * from cells
  union all by name
  select * from arms
),
faster as (
  select
    listed.kind,
    listed.candidate,
    arg_max(plain.engine_label, (plain.baseline_tps, plain.cell)) as other_engine,
    max(plain.baseline_tps) as other_tps
  from listed
  join cell as plain using (device, target, quantisation, task, tier)
  where plain.concurrency = 1 and plain.conditions is null
    and plain.engine_label <> listed.engine_label and plain.baseline_tps > listed.tps
    and plain.backing <= listed.backing
  group by listed.kind, listed.candidate
)
select
  kind, candidate, own_tasks, coalesce(shown, true) as shown, submission, arm, tier, device,
  device_label, device_kind, vram_gib, backend, engine_label, target, target_label, size_class,
  size_order, parameters, active_parameters, quantisation, method, method_label, depth, draft_label,
  concurrency, conditions, suite_label, task, speedup, interval_low, interval_high, stated_request,
  stated_request_low, stated_request_high, slower_request, verdict, doubt, confirmed, backing,
  votes, at_most,
  baseline_tps, tps, other_engine, other_tps, tokens_per_round, round_cost, acceptance_rate,
  submissions, rigs, contributors
from listed
left join faster using (kind, candidate)
order by kind, candidate, task;
