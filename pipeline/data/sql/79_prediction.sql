-- One row is one contributor's measurement in one cell beside the prediction by probes of the same
-- campaigns. Several machines and submissions are combined as the mean of the logarithms. Only
-- measured evidence without a serious flag counts, of one request at a time with the usual
-- settings. `submission` is the newest submission.
create table prediction as
with measured as (
  select pool as cell, account_of(contributor) as voter, * exclude (voter)
  from pool_member
  where tier = 'measured' and task <> 'all' and concurrency = 1 and conditions is null
    and speedup > 0 and predicted_speedup > 0 and trust_in(verdict, doubt) > 0
)
select
  cell,
  voter,
  any_value(device) as device,
  any_value(device_label order by submission) as device_label,
  any_value(backend) as backend,
  any_value(target) as target,
  any_value(target_label order by submission) as target_label,
  any_value(quantisation order by submission) as quantisation,
  any_value(size_class order by submission) as size_class,
  any_value(method order by submission) as method,
  any_value(method_label order by submission) as method_label,
  any_value(depth) as depth,
  any_value(draft_label order by submission) as draft_label,
  any_value(task) as task,
  exp(avg(ln(measured.speedup))) as speedup,
  exp(avg(ln(measured.predicted_speedup))) as predicted_speedup,
  exp(avg(ln(measured.speedup / measured.predicted_speedup))) - 1 as unexplained,
  arg_max(submission, (measured_from, submission)) as submission
from measured
group by cell, voter
order by cell, voter;
