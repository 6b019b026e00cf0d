-- One row is one piece of evidence: one submission's estimate of one arm on one task. The task
-- 'all' means all fixed tasks; 'own' means the tasks of an imported suite that lacks some fixed
-- tasks.
create table evidence as
select
  setup.* replace (shell_text(measured_with) as measured_with),
  arm.arm,
  arm.role,
  arm.method,
  arm.method_label,
  arm.depth,
  arm.varied_by,
  setting.draft_label,
  arm.concurrency,
  arm.outcome,
  arm.reason,
  coalesce(estimate.task, if(estimate.own_tasks, 'own', 'all')) as task,
  estimate.* exclude (submission, arm, task, own_tasks)
from estimate
join setup using (submission)
join arm using (submission, arm)
join setting using (submission, arm)
order by submission, arm.position, task;
