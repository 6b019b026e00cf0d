-- One row is one campaign that the map wants: a device that many people own (`common_devices.toml`)
-- with a reference model (`reference_models.toml`) whose weights, at about 5 bits, fit into three
-- quarters of the device's memory. `known` is the best evidence for the pair. `wanted` is the value
-- of one more result: the commonness of the device times the number of devices (at most ten) that
-- have the model, including this device. The value counts in full without evidence, by half with
-- published figures without an interval, and by a quarter with one contributor's measurement. A
-- pair that a second contributor confirmed is not wanted.
create table wanted as
with figures as (
  select
    tier, device, device_label, target, coalesce(contributor, source) as person, 1 as votes
  from published_pair
  where speedup is not null
  union all
  select tier, device, device_label, target, cell, votes
  from cell
  where concurrency = 1
    and conditions is null
    and speedup is not null
    and verdict <> 'never-drafted'
),
spread as (
  select target, count(distinct device_label) as devices
  from figures
  group by target
),
pairs as (
  select
    device_label,
    target,
    min_by(tier, list_position(['measured', 'imported', 'published'], tier)) as known,
    count(distinct person) filter (tier = 'published') as people,
    coalesce(max(votes) filter (tier = 'measured'), 0) as contributors
  from figures
  group by device_label, target
)
select
  (select max(device) from figures where device_label = owned.id) as device,
  owned.id as device_label,
  owned.memory_gib,
  reference.id as target,
  reference.label as target_label,
  reference.preset,
  coalesce(pairs.known, 'nothing') as known,
  coalesce(pairs.people, 0) as people,
  coalesce(spread.devices, 0) as devices,
  (
    owned.common
    * least(coalesce(spread.devices, 0) + (pairs.known is null)::bigint, 10)
    * case coalesce(pairs.known, 'nothing')
      when 'nothing' then 1.0 when 'measured' then 0.25 else 0.5
    end
  )::double as wanted
from vocabulary_common_device as owned
cross join vocabulary_reference_model as reference
left join spread on spread.target = reference.id
left join pairs on pairs.device_label = owned.id and pairs.target = reference.id
where reference.parameters * 5 / 8 <= 0.75 * owned.memory_gib * 1024 ** 3
  and coalesce(pairs.contributors, 0) < 2
order by wanted desc, devices desc, owned.common desc, owned.id, target;
