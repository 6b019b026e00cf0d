-- One row is one device and size of model, for a backend and a task or for `any` of them: the
-- median over people of each person's median, in the best tier, with the method that most
-- people used.
with author as (
  select submission, lower(credited) as author from submission_overview
),
figure as (
  select
    tier, device, device_label, size_class, size_order, backend, task, method, method_label,
    speedup,
    author as person
  from explore
  join author using (submission)
  where speedup is not null and size_class is not null and conditions is null and concurrency = 1
  union all
  select
    tier, device, device_label, size_class, size_order, backend, coalesce(task, 'all'), method,
    method_label, speedup, coalesce(contributor, source)
  from published_pair
  where size_class is not null and len(also_differs) = 0 and len(doubts) = 0 and offload is null
),
own as (
  select
    tier, device, any_value(device_label) as device_label, size_class, size_order,
    coalesce(backend, 'any') as backend, coalesce(task, 'any') as task,
    method, any_value(method_label) as method_label, person, median(speedup) as speedup,
    count(*) as figures
  from figure
  group by tier, device, size_class, size_order, method, person, cube(backend, task)
),
typical as (
  select
    * exclude (person, speedup, figures),
    median(speedup) as speedup, count(*) as people, sum(figures)::bigint as figures
  from own
  group by all
)
select
  device, device_label, size_class, size_order, backend,
  coalesce(task_label(task), task) as task_label,
  method, method_label, speedup, people, figures, tier
from typical
qualify row_number() over (
  partition by device, size_class, backend, task
  order by
    list_position(['measured', 'imported', 'published'], tier), people desc, figures desc, method
) = 1
order by backend <> 'any', task <> 'any', backend, task, device_label, size_order;
