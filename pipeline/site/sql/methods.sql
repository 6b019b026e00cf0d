-- One row is one method on one device with one target model, over all depths and tasks: the median
-- over people of each person's median, in one tier.
with author as (
  select submission, lower(credited) as author from submission_overview
),
figure as (
  select
    tier, device, device_label, target, target_label, method, method_label, speedup,
    author as person
  from explore
  join author using (submission)
  where speedup is not null and conditions is null and concurrency = 1
  union all
  select
    tier, device, device_label, target, target_label, method, method_label, speedup,
    coalesce(contributor, source)
  from published_pair
  where len(also_differs) = 0 and len(doubts) = 0 and offload is null
),
own as (
  select * exclude (speedup), median(speedup) as speedup
  from figure
  group by all
),
pair as (
  select
    tier, device, any_value(device_label) as device_label, target,
    any_value(target_label) as target_label,
    method, any_value(method_label) as method_label, median(speedup) as speedup, count(*) as people
  from own
  group by tier, device, target, method
)
select
  concat_ws(' · ', method_label, tier) as line_label,
  method, method_label, device_label, target_label, speedup, people, tier,
  median(speedup) over line as typical, count(*) over line as dots
from pair
window line as (partition by method, tier)
order by dots desc, line_label, device, target;
