-- One row is one measured cell that the advisor learnt from, by the words that its key is made of.
select
  any_value(observation.device) as device,
  any_value(observation.backend) as backend,
  any_value(observation.target) as target,
  last(observation.quantisation_slug order by observation.rowid) as quantisation_slug,
  last(observation.draft_slug order by observation.rowid) as draft_slug,
  any_value(observation.method) as method,
  any_value(observation.depth) as depth,
  any_value(observation.task) as task,
  any_value(cell.speedup) as speedup,
  any_value(cell.interval_low) as interval_low,
  any_value(cell.interval_high) as interval_high,
  any_value(cell.stated_request) as stated_request
from cell
join advice_observation as observation using (cell)
where cell.speedup is not null
group by cell.cell
order by min(cell.rowid);
