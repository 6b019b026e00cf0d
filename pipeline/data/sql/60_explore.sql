-- One row is one cell as the page Explore lists it, with the newest submission as its evidence.
-- `setup` names the cell without its task: what one arm is, wherever the page is shared.
create table explore as
with members as (
  select pool_member.*, gpu.vendor, gpu.name as gpu_name, submission.cpu_name
  from pool_member
  join submission using (submission)
  left join gpu on gpu.submission = pool_member.submission and gpu.position = 1
  where pool_kind = 'cell'
),
newest as (
  select
    pool as cell,
    any_value(submission order by measured_from desc, submission) as submission,
    any_value(
      if(device_kind = 'gpu', coalesce(vendor, vendor_of(gpu_name)), vendor_of(cpu_name))
      order by measured_from desc, submission
    ) as vendor
  from members
  group by pool
)
select
  cell.*,
  md5(concat_ws('|', device, backend, target, quantisation, method, coalesce(depth, 0),
    coalesce(draft_label, ''), coalesce(concurrency, 1), tier, other_engine(engine_label)))[:10]
    as setup,
  newest.submission,
  newest.vendor
from cell
join newest using (cell)
order by task = 'all', speedup desc nulls last, cell;
