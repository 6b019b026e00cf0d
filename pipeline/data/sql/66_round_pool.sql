-- One row is one pool of costs of a round at one depth: on one device, on devices with as much memory,
-- or through one backend; with one method, or with `any` that drafts in every round, arms with a set
-- acceptance among them. A vote is one pair of models on one device: what varies is the pair.
create table round_pool as
with placed as (
  select round_cost.*, ln(round_cost) as log_cost, vram_gib
  from round_cost
  left join device using (device)
),
keyed as (
  select *, unnest([
    {'level': 'round-device', 'key': device || '|' || backend},
    {'level': 'round-memory', 'key': vram_gib || '|' || backend},
    {'level': 'round-backend', 'key': backend}
  ]) as place
  from placed
),
entered as (
  select *, unnest(if(method = 'forced', ['any'], ['any', method])) as way
  from keyed
  where place.key is not null
)
select
  concat_ws('|', place.level, place.key, way, 'n' || depth) as round_pool,
  place.level as level,
  way as method,
  depth,
  count(*) as votes,
  avg(log_cost) as mean_log,
  coalesce(var_pop(log_cost) * count(*), 0.0)::double as squares
from entered
group by all
order by round_pool;
