-- One row is one piece of evidence: what one submission says about one arm on one task; 'all' is
-- over all fixed tasks, 'own' over those of an imported suite that lacks some of them. `known`:
-- maintainers have looked at who sent it, or at the source that it was imported from.
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
  estimate.* exclude (submission, arm, task, own_tasks),
  coalesce(contributor.known and contributor.contributor <> 'anonymous', false)
    or coalesce(submission.origin_sha256 in (select unnest(file_digests) from source), false)
    as known
from estimate
join setup using (submission)
join submission using (submission)
left join contributor on contributor.contributor = lower(setup.contributor)
join arm using (submission, arm)
join setting using (submission, arm)
order by submission, arm.position, task;
