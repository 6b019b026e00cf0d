-- One row is one speedup of a single stream, from a measured or imported cell or from a published
-- pair of rates, with its setting and its person (one vote each).
with stated as (
  select source, row_id, replace(quantity, 'pooled_', '') as what, min(value) as value
  from published_figure
  where
    qualifier is null and high is null
    and quantity in ('tokens_per_round', 'acceptance_rate', 'pooled_acceptance_rate')
  group by all
)

select
  tier,
  device_label,
  backend = 'cpu' or device_kind = 'cpu' as on_cpu,
  target_label,
  quantisation,
  engine_label as engine,
  last_measured::date::varchar as day,
  coalesce((
    select coalesce(min(contributor), min(origin_source), 'measured here') from submission
    where submission.submission = cell.submission_list[1]
  ), 'measured here') as person,
  submission_list[1] as source,
  method,
  depth,
  draft_label,
  task,
  speedup,
  tokens_per_round,
  null as acceptance,
  null as p_min,
  false as partly,
  []::varchar[] as doubts
from cell
where concurrency = 1 and speedup is not null and verdict <> 'never-drafted'
union all
select
  rate.tier,
  rate.device_label,
  rate.device_kind = 'cpu' or rate.backend = 'cpu',
  rate.target_label,
  rate.quantisation,
  rate.engine_name,
  coalesce(published_row.row_date, published_row.transcribed_on::varchar),
  coalesce(rate.contributor, source.author, source.publisher, rate.source),
  rate.source,
  rate.method,
  rate.depth,
  rate.draft_label,
  coalesce(rate.task, 'all'),
  rate.speedup,
  tokens.value,
  accepted.value,
  published_row.p_min,
  rate.offload is not null,
  if(len(rate.also_differs) > 0, list_append(rate.doubts, 'confounded'), rate.doubts)
from published_rate as rate
join published_row using (source, row_id)
join source on source.source = rate.source
left join stated as tokens
  on tokens.source = rate.source and tokens.row_id = rate.row_id
    and tokens.what = 'tokens_per_round'
left join stated as accepted
  on accepted.source = rate.source and accepted.row_id = rate.row_id
    and accepted.what = 'acceptance_rate'
where coalesce(rate.concurrency, 1) = 1 and rate.speedup is not null
order by all;
