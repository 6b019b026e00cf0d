-- One row puts one observation into one pool of the advisor: the logarithm of its round cost over
-- what the bytes that it reads would cost (`bytes_log` is the logarithm of the latter) at five
-- levels (cost-pair, cost-draft, cost-device, cost-memory, cost-backend) and of its tokens per
-- round at two (yield-pair, yield-method). They are tried in the order of `level_order`, nearest
-- first. A draft model's size decides its cost more than the device does, so the same pair
-- elsewhere (cost-draft) comes before other pairs on the same device.
-- Mixtures of experts are in no pool: a wider step reads more of their experts, so that R grows
-- with the width by another law than that of dense models, and too few are measured to learn it.
create table advice_member as
with keyed as (
  select
    *,
    concat_ws('|', method, 'n' || depth, if(drafts_always, 'all', task)) as cost_key,
    concat_ws('|', method, 'n' || depth, task) as yield_key
  from advice_observation
  where not mixture
),
placed as (
  select *, unnest([
    {'part': 'cost', 'level': 'cost-pair', 'level_order': 1, 'key':
      concat_ws('|', device, backend, target, quantisation_slug, draft_slug, cost_key)},
    {'part': 'cost', 'level': 'cost-draft', 'level_order': 2, 'key':
      if(draft_label is null, null,
        concat_ws('|', backend, target, quantisation_slug, draft_slug, cost_key))},
    {'part': 'cost', 'level': 'cost-device', 'level_order': 3, 'key':
      concat_ws('|', device, backend, size_order, cost_key)},
    {'part': 'cost', 'level': 'cost-memory', 'level_order': 4, 'key':
      vram_gib || '|' || concat_ws('|', backend, size_order, cost_key)},
    {'part': 'cost', 'level': 'cost-backend', 'level_order': 5, 'key':
      concat_ws('|', backend, size_order, cost_key)},
    {'part': 'yield', 'level': 'yield-pair', 'level_order': 1, 'key':
      concat_ws('|', target, draft_slug, yield_key)},
    {'part': 'yield', 'level': 'yield-method', 'level_order': 2, 'key': yield_key}
  ]) as place
  from keyed
)
select
  observation,
  voter,
  method,
  place.part as part,
  place.level as level,
  place.level_order::bigint as level_order,
  place.level || '|' || place.key as advice_pool,
  ln(if(place.part = 'cost', round_cost / bytes_cost, tokens_per_round)) as log_value,
  if(place.part = 'cost', ln(bytes_cost), 0) as bytes_log,
  submission_list
from placed
where place.key is not null;
