-- One row is one campaign that the map wants: device × backend × size class × method at its usual
-- depth, with the tasks that nobody (empty) or only one voter (thin) has measured.
-- A size class is asked for where its smallest known file fits into nine tenths of the memory.
-- A task counts with the votes that other devices have there, which makes it comparable at once: in
-- full where it is empty, by half where it is thin. `wanted` is their sum times the rigs of the
-- device, which is how many people could fill it.
create table wanted as
with measured as (
  select * from cell
  where tier = 'measured' and task <> 'all' and concurrency = 1 and conditions is null and speedup is not null
),
places as (
  select distinct setup.device, setup.device_label, setup.backend, setup.vram_gib, rigs.rigs
  from setup
  join (
    select device, backend, count(distinct rig) as rigs from setup where counted group by device, backend
  ) as rigs using (device, backend)
  where setup.tier = 'measured' and setup.counted
),
usual as (
  select
    size_order,
    method,
    any_value(size_class) as size_class,
    any_value(method_label order by cell) as method_label,
    mode(depth order by cell) as depth,
    mode(target_label || '|' || quantisation order by cell) as model,
    mode(draft_label order by cell) as draft_label
  from measured
  group by size_order, method
),
smallest as (
  select size_order(parameters) as size_order, min(file_bytes) as file_bytes
  from submission
  where file_bytes is not null
  group by size_order(parameters)
),
here as (
  select device, backend, size_order, method, task, max(votes) as votes
  from measured
  group by device, backend, size_order, method, task
),
known as (
  select size_order, method, task, sum(votes)::bigint as votes
  from here
  group by size_order, method, task
),
squares as (
  select
    places.*,
    usual.*,
    known.task,
    coalesce(here.votes, 0) as own_votes,
    known.votes - coalesce(here.votes, 0) as other_votes
  from places
  cross join usual
  join known using (size_order, method)
  left join smallest using (size_order)
  left join here
    on here.device = places.device and here.backend = places.backend
    and here.size_order = usual.size_order and here.method = usual.method and here.task = known.task
  where places.vram_gib is null or smallest.file_bytes is null
    or smallest.file_bytes <= 0.9 * places.vram_gib * 1024 ** 3
)
select
  device,
  any_value(device_label) as device_label,
  backend,
  size_class,
  size_order,
  method,
  any_value(method_label) as method_label,
  any_value(depth) as depth,
  any_value(split_part(model, '|', 1)) as target_label,
  any_value(split_part(model, '|', 2)) as quantisation,
  any_value(draft_label) as draft_label,
  list(task order by task) filter (own_votes = 0) as empty_tasks,
  list(task order by task) filter (own_votes = 1) as thin_tasks,
  count(*) filter (own_votes > 1) as confirmed_tasks,
  any_value(rigs) as rigs,
  (any_value(rigs) * sum(case own_votes
    when 0 then 1.0::double + other_votes when 1 then 0.5::double * (1 + other_votes) else 0.0 end)
  )::double as wanted
from squares
group by device, backend, size_class, size_order, method
having count(*) filter (own_votes < 2) > 0
order by wanted desc, device, backend, size_order, method;
