-- One row is the summary of one tier: counts of the tier's cells of single tasks, with one
-- request at a time. Both tiers always have a row.
create table headline as
with tiers as (
  select unnest(['measured', 'imported']) as tier
),
judged as (
  select
    tier,
    count(*) as cells,
    count(*) filter (verdict = 'helps') as helping_cells,
    count(*) filter (loses(verdict)) as losing_cells,
    count(*) filter (
      verdict in ('no-clear-difference', 'uncertain', 'too-few-prompts', 'differs-by-build')
    ) as unclear_cells,
    count(*) filter (verdict in ('failed', 'never-drafted')) as failed_cells,
    count(*) filter (confirmed) as confirmed_cells
  from cell
  where task <> 'all' and concurrency = 1 and conditions is null
  group by tier
),
counted as (
  select
    tier,
    count(*) as submissions,
    count(distinct machine) as machines,
    count(distinct target) as targets
  from setup
  where counted
  group by tier
),
run as (
  select tier, count(*) as trials
  from trial
  join setup using (submission)
  where counted
  group by tier
)
select
  tiers.tier,
  coalesce(columns(* exclude (tier)), 0)
from tiers
left join counted using (tier)
left join run using (tier)
left join judged using (tier)
order by tier desc;
