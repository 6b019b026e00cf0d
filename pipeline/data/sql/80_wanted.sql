-- One row is one campaign that the map wants: a device that many people own (`common_devices.toml`)
-- with a model that at least two devices have a figure for, in the setting that most people have
-- there, where the weights in that quantisation fit into three quarters of the memory.
-- `known` is the best that is known of the pair, and `wanted` what one more result would change:
-- how common the device is, times the other devices (at most ten) that it becomes comparable with,
-- in full where nothing is known, by half where others printed figures without an interval, by a
-- quarter where one contributor measured it. What a second contributor confirmed is not wanted.
create table wanted as
with figures as (
  select
    tier, device, device_label, target, target_label, quantisation, parameters, size_class,
    size_order, method, method_label, depth, draft_label, coalesce(contributor, source) as person,
    1 as votes
  from published_pair
  where speedup is not null and target is not null
  union all
  select
    tier, device, device_label, target, target_label, quantisation, parameters, size_class,
    size_order, method, method_label, depth, draft_label, cell, votes
  from cell
  where concurrency = 1
    and conditions is null
    and speedup is not null
    and verdict <> 'never-drafted'
),
usual as (
  select
    target,
    any_value(target_label) as target_label,
    max(parameters) as parameters,
    any_value(size_class) as size_class,
    any_value(size_order) as size_order,
    count(distinct device) as devices
  from figures
  group by target
  having count(distinct device) >= 2
),
setting as (
  select
    target, quantisation, method, method_label, depth, draft_label,
    case
      when regexp_matches(quantisation, 'F32') then 32
      when regexp_matches(quantisation, 'F16') then 16
      when regexp_matches(quantisation, 'Q8|FP8|8-bit') then 8.5
      else 5
    end as bits
  from figures
  group by target, quantisation, method, method_label, depth, draft_label
  qualify row_number() over (
    partition by target
    order by count(distinct device) desc, count(distinct person) desc, method, depth, quantisation,
      draft_label
  ) = 1
),
pairs as (
  select
    device_label,
    target,
    max(device) as device,
    min_by(tier, list_position(['measured', 'imported', 'published'], tier)) as known,
    count(distinct person) filter (tier = 'published') as people,
    coalesce(max(votes) filter (tier = 'measured'), 0) as contributors
  from figures
  group by device_label, target
)
select
  coalesce(pairs.device, (select max(device) from figures where device_label = owned.id)) as device,
  owned.id as device_label,
  owned.memory_gib,
  target,
  usual.target_label,
  setting.quantisation,
  usual.size_class,
  usual.size_order,
  setting.method,
  setting.method_label,
  setting.depth,
  setting.draft_label,
  coalesce(pairs.known, 'nothing') as known,
  coalesce(pairs.people, 0) as people,
  usual.devices,
  (
    owned.common * least(usual.devices - (pairs.known is not null)::bigint, 10)
    * case coalesce(pairs.known, 'nothing')
      when 'nothing' then 1.0 when 'measured' then 0.25 else 0.5
    end
  )::double as wanted
from vocabulary_common_device as owned
cross join usual
join setting using (target)
left join pairs on pairs.device_label = owned.id and pairs.target = usual.target
where usual.parameters * setting.bits / 8 <= 0.75 * owned.memory_gib * 1024 ** 3
  and coalesce(pairs.contributors, 0) < 2
order by wanted desc, usual.devices desc, owned.common desc, owned.id, target;
