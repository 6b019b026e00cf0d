-- One row is what all evidence of one tier says: shares over the cells of single tasks, with one
-- request at a time. Both tiers always have a row; shares are null where there is no cell.
create table headline as
with tiers as (
  select unnest(['measured', 'imported']) as tier
),
judged as (
  select
    tier,
    count(*) as cells,
    count(*) filter (verdict = 'helps') as helping_cells,
    count(*) filter (verdict = 'hurts') as losing_cells,
    count(*) filter (verdict in ('no-clear-difference', 'uncertain', 'too-few-prompts')) as unclear_cells,
    count(*) filter (verdict in ('failed', 'never-drafted')) as failed_cells,
    count(*) filter (speedup < 1) as slower_cells,
    count(*) filter (confirmed) as confirmed_cells
  from cell
  where task <> 'all' and concurrency = 1 and conditions is null
  group by tier
),
extremes as (
  select tier, max(speedup) as best_speedup, min(speedup) as worst_speedup,
    median(speedup) as median_speedup
  from cell
  where task <> 'all' and concurrency = 1 and conditions is null
  group by tier
),
counted as (
  select
    tier,
    count(*) as submissions,
    count(distinct machine) as machines,
    count(distinct rig) as rigs,
    count(distinct contributor) as contributors,
    count(distinct device) as devices,
    count(distinct target) as targets,
    max(measured_from) as last_measured
  from setup
  where counted
  group by tier
),
run as (
  select tier, count(*) as trials, count(*) filter (trial.outcome = 'failed') as failed_trials
  from trial
  join setup using (submission)
  where counted
  group by tier
)
select
  tiers.tier,
  coalesce(submissions, 0) as submissions,
  coalesce(machines, 0) as machines,
  coalesce(rigs, 0) as rigs,
  coalesce(contributors, 0) as contributors,
  coalesce(devices, 0) as devices,
  coalesce(targets, 0) as targets,
  coalesce(trials, 0) as trials,
  coalesce(failed_trials, 0) as failed_trials,
  coalesce(cells, 0) as cells,
  coalesce(helping_cells, 0) as helping_cells,
  coalesce(losing_cells, 0) as losing_cells,
  coalesce(unclear_cells, 0) as unclear_cells,
  coalesce(failed_cells, 0) as failed_cells,
  coalesce(slower_cells, 0) as slower_cells,
  coalesce(confirmed_cells, 0) as confirmed_cells,
  helping_cells / cells as helping_share,
  losing_cells / cells as losing_share,
  unclear_cells / cells as unclear_share,
  failed_cells / cells as failed_share,
  slower_cells / cells as slower_share,
  best_speedup,
  worst_speedup,
  median_speedup,
  last_measured
from tiers
left join counted using (tier)
left join run using (tier)
left join judged using (tier)
left join extremes using (tier)
order by tier desc;
