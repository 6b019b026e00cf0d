-- One row is what others print for one device, one target, or in all (`$place` names which): the
-- median over people of each person's median, how far all their figures spread, and how many of the
-- people the one source and the one target have that have most. Runs that differ in more than speculation (`differs`) count
-- only where there are no others.
with listed as (
  select
    case $place when 'device' then device when 'target' then target else 'all' end as name,
    coalesce(contributor, author, publisher, source) as person,
    coalesce(author, publisher, title) as credited,
    device,
    target_label,
    speedup,
    len(also_differs) > 0 as differs
  from published_pair
  join source using (source)
  where speedup is not null
),
compared as (
  select *
  from listed
  qualify differs = min(differs) over (partition by name)
),
people as (
  select name, person, exp(median(ln(speedup))) as speedup
  from compared
  group by name, person
),
medians as (
  select name, count(*) as people, exp(median(ln(speedup))) as speedup
  from people
  group by name
),
spread as (
  select
    name,
    count(*) as figures,
    count(distinct device) as devices,
    min(speedup) as least,
    max(speedup) as most,
    bool_or(differs) as differs
  from compared
  group by name
),
sources as (
  select name, credited, count(distinct person) as people
  from compared
  group by name, credited
),
targets as (
  select name, target_label, count(distinct person) as people
  from compared
  group by name, target_label
)
select
  *,
  (select max(people) from sources where sources.name = medians.name) as through_one_source,
  (select max(people) from targets where targets.name = medians.name) as with_usual_target,
  (
    select arg_max(target_label, (people, target_label)) from targets
    where targets.name = medians.name
  ) as usual_target
from medians
join spread using (name)
order by name;
