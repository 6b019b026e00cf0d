-- One row is one way in which one arm failed in one submission: the arm as a
-- whole, or some of its trials.
create table failure as
with arms as (
  select submission, arm, 'arm' as scope, reason, null::bigint as failed_trials
  from arm
  where outcome = 'failed'
),
trials as (
  select submission, arm, 'trials' as scope, reason, count(*) as failed_trials
  from trial
  where outcome = 'failed'
  group by submission, arm, reason
)
select
  failures.*,
  arm.role,
  arm.method,
  arm.method_label,
  arm.depth,
  setting.draft_label,
  setup.tier,
  setup.counted,
  setup.device,
  setup.device_label,
  setup.backend,
  setup.target,
  setup.target_label,
  setup.quantisation,
  setup.size_class,
  setup.measured_from
from (from arms union all from trials) as failures
join arm using (submission, arm)
join setting using (submission, arm)
join setup using (submission)
order by submission, arm, scope, reason;
