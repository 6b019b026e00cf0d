-- One row is one estimate that does not match exactly one piece of evidence:
-- its arm or setup is unknown.
with counted as (
  select
    estimate.submission,
    estimate.arm,
    coalesce(estimate.task, if(estimate.own_tasks, 'own', 'all')) as task,
    count(evidence.submission) as pieces
  from estimate
  left join evidence
    on evidence.submission = estimate.submission
    and evidence.arm = estimate.arm
    and evidence.task = coalesce(estimate.task, if(estimate.own_tasks, 'own', 'all'))
  group by all
)
select * from counted where pieces <> 1;
