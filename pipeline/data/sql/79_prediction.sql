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
  -- One row for all columns: a choice for each column takes three times as long.
  unnest(arg_min({
    'device': device, 'device_label': device_label, 'backend': backend, 'target': target,
    'target_label': target_label, 'quantisation': quantisation, 'size_class': size_class,
    'method': method, 'method_label': method_label, 'depth': depth, 'draft_label': draft_label,
    'task': task
  }, submission)),
  exp(favg(ln(measured.speedup))) as speedup,
  exp(favg(ln(measured.predicted_speedup))) as predicted_speedup,
  exp(favg(ln(measured.speedup / measured.predicted_speedup))) - 1 as unexplained,
  arg_max(submission, (measured_from, submission)) as submission
from measured
group by cell, voter
order by cell, voter;
