-- One row is one stated rate with speculation, checked or not, next to its baseline from the same
-- source at the same concurrency, or only the ratio of the two if the source has no rates. A run
-- that crashed has no rate. A published rate has no interval and no verdict. A measurement that the
-- same person repeats in another source counts once, in the first source. Names of devices have the
-- form of measured ones: three equal cards are `3 × RTX 3090 24 GB`, with the memory of one card;
-- different cards have all their names and the total memory.
create table stated_rate as
with rates as (
  select source, row_id, value as tps
  from stated_figure
  where quantity = 'decode_tps' and qualifier is null
  qualify row_number() over (partition by source, row_id order by figure_position) = 1
),
ratios as (
  select source, row_id, value as ratio
  from stated_figure
  where quantity = 'speedup' and qualifier is null and high is null
),
labelled as (
  select
    * exclude (device_label),
    (parameters_b * 1e9)::bigint as parameters,
    if(coalesce(unified_memory, false), null, round(vram_mib / 1024)::bigint) as vram_gib,
    string_split(stated_row.device_label, ' + ') as cards,
    -- sqruff cannot parse a lambda with two names.
    list_filter(cards, lambda card, position: list_position(cards, card) = position) -- noqa: LT01
      as kinds,
    list_transform(
      kinds, lambda kind: times(len(list_filter(cards, lambda card: card = kind)), kind)
    ) as names,
    regexp_extract(if(len(names) = 1, names[1], ''), '^(\d+) × ', 1) as equal_cards,
    round(vram_gib / coalesce(try_cast(equal_cards as bigint), 1))::bigint || ' GB' as memory,
    concat_ws(' ', array_to_string(names, ' + '), memory) as device_label
  from stated_row
  where stated_row.device_label is not null and method_label is not null
)
select
  spec.source,
  spec.row_id,
  spec.position,
  'published' as tier,
  slug_of(spec.device_label) as device,
  spec.device_label,
  if(spec.device_kind = 'gpu', 'gpu', 'cpu') as device_kind,
  spec.vram_gib,
  coalesce(spec.backend, 'not stated') as backend,
  spec.engine_name,
  slug_of(spec.target_name) as target,
  spec.target_name as target_label,
  spec.quantisation,
  spec.parameters,
  size_class(spec.parameters) as size_class,
  size_order(spec.parameters) as size_order,
  spec.method,
  spec.method_label,
  spec.depth,
  spec.draft_name as draft_label,
  spec.task,
  coalesce(rate.tps / base_rate.tps, ratio) as speedup,
  base_rate.tps as baseline_tps,
  rate.tps,
  spec.contributor,
  spec.also_differs,
  spec.doubts,
  spec.offload,
  -- The conditions that make the rate a separate kind, in words.
  list_filter(
    [
      spec.offload,
      if(spec.temperature > 0, 'temperature ' || spec.temperature, null),
      if(spec.thinking, 'thinking', null),
      if(spec.prompt_tokens >= 2000, 'prompt of ' || spec.prompt_tokens || ' tokens', null)
    ],
    lambda each: each is not null
  ) as kinds,
  spec.row_url,
  spec.place,
  spec.concurrency,
  spec.prompt_tokens,
  spec.row_date,
  spec.checked_by,
  spec.reported_by
from labelled as spec
left join rates as rate using (source, row_id)
left join rates as base_rate
  on base_rate.source = spec.source and base_rate.row_id = spec.baseline_row
left join ratios using (source, row_id)
where coalesce(rate.tps / base_rate.tps, ratio) is not null or outcome = 'crashed'
qualify dense_rank() over (
  partition by spec.contributor, spec.device_label, spec.target_name, spec.quantisation,
    spec.method, spec.depth, spec.task, spec.concurrency, rate.tps, base_rate.tps, ratio,
    spec.checked_by is null
  order by if(spec.contributor is null, null, spec.source)
) = 1
order by spec.source, spec.position;
