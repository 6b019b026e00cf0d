-- One row is what was measured on one device through one backend on one task, all models and methods.
select
  device,
  device_label,
  backend,
  task,
  min(speedup) as lowest,
  max(speedup) as highest,
  count(*) as cells
from cell
where tier = 'measured' and speedup is not null
group by device, device_label, backend, task
order by min(cell);
