-- One row is one piece of evidence: what one submission says about one arm on one task ('all' too).
create table evidence as
select
  setup.*,
  arm.arm,
  arm.role,
  arm.method,
  arm.method_label,
  arm.depth,
  setting.draft_label,
  arm.concurrency,
  arm.outcome,
  arm.reason,
  coalesce(estimate.task, 'all') as task,
  estimate.* exclude (submission, arm, task)
from estimate
join setup using (submission)
join arm using (submission, arm)
join setting using (submission, arm)
order by submission, arm.position, task;
