-- One row is one pair, which is one device with one model, on one task, in one tier, within one
-- `scope`: the whole pair, or only one backend, method, quantisation or depth of it (`scope_label`
-- names which one). This is the only query that takes a median over people, so every page, file
-- and answer quotes the same figure. A measured or imported pair is a row of the table `best`. A
-- published pair is the median over people of each person's median, for the method that most
-- people have tried with this device and model. Each person counts with the depth nearest to the
-- method's `usual_depth`; no figure is converted. Nothing that people publish about another device
-- or model decides the figure. `baseline_tps` is the median plain rate of the
-- same people, of whom `rated` stated one; `tps` is that rate times the speedup. Runs that differ
-- in more than speculation (`confounded`) count only if there are no others; of the rest, `lesser`
-- figures also count only without others. A pair without a known contributor (`backing`) comes
-- after published ones. `dots` are the people, each at the median of their figures of the drawn
-- setting; `other_dots` are all other figures, most of other settings and tiers: the cost of a
-- wrong choice.
create table pair as
with placed as (
  select
    *,
    case scope
      when 'backend' then backend
      when 'quantisation' then quantisation
      when 'depth' then 'depth ' || depth
      else ''
    end as scope_label,
    -- As in the table `best`, whose rows have no scope of a quantisation or depth.
    concat_ws(
      '|', device, target, view,
      if(scope in ('backend', 'backend and method'), backend, 'all'),
      if(scope in ('pair', 'backend'), 'all', method),
      if(scope in ('quantisation', 'depth'), scope_label, null),
      condition
    ) as pair_key
  from figure
  cross join (
    select unnest(['pair', 'backend', 'method', 'backend and method', 'quantisation', 'depth'])
      as scope
  )
  where scope_label is not null
    and (
      scope not in ('quantisation', 'depth')
      or (device, target) in (select (device, target) from published_rate)
    )
),
picked as (
  select pair_key, method
  from placed
  join vocabulary_method on vocabulary_method.id = method
  where tier = 'published'
  group by pair_key, method, every_round, position
  qualify row_number() over (
    partition by pair_key
    order by
      count(distinct person) filter (collected) desc, count(distinct person) desc,
      every_round desc, position
  ) = 1
),
unconfounded as (
  select placed.*
  from placed
  join picked using (pair_key, method)
  where tier = 'published'
  qualify not confounded or bool_and(confounded or not collected) over (partition by pair_key)
),
comparable as (
  select *
  from unconfounded
  qualify not lesser or bool_and(lesser or not collected) over (partition by pair_key)
),
nearest as (
  select comparable.*
  from comparable
  join vocabulary_method on vocabulary_method.id = method
  qualify depth is not distinct from first_value(depth) over (
    partition by pair_key, person
    order by abs(depth - usual_depth) nulls last, depth nulls last
  )
),
drawn as (
  select * from nearest
  union all by name
  select placed.*
  from placed
  join best
    on best.place = 'strip' and best.scope = placed.pair_key and best.tier = placed.tier
    and best.candidate = placed.candidate
  where placed.newest
),
people as (
  select
    pair_key, tier, person,
    log_median(speedup) as speedup,
    log_median(baseline_tps) as baseline_tps
  from drawn
  group by all
),
summed as (
  select
    pair_key, tier,
    log_median(speedup) as speedup,
    log_median(baseline_tps) as baseline_tps,
    count(baseline_tps) as rated,
    min(speedup) as least,
    max(speedup) as most,
    list(distinct round(speedup, 2) order by round(speedup, 2)) as dots,
    count(*) as people
  from people
  group by all
),
facts as (
  select
    pair_key, tier, scope, scope_label, condition,
    count(*) as figures,
    list(distinct drawn.task order by drawn.task) as tasks,
    list(distinct drawn.backend order by drawn.backend) as backends,
    known_values(drawn.engine) as engines,
    list(distinct drawn.source order by drawn.source) as sources,
    known_values(drawn.quantisation) as quantisations,
    known_values(drawn.draft_label) as drafts,
    known_values(drawn.cache) as caches,
    known_values(drawn.depth) as depths,
    bool_and(confounded) as confounded,
    bool_and(lesser) as lesser,
    count(distinct address) = 1 as one_source,
    bool_or(sure) as sure,
    bool_and(offload) as offload,
    arg_min(
      {'source': source, 'row_id': row_id}, (abs(ln(drawn.speedup / summed.speedup)), figure)
    ) as typical,
    min(drawn.speedup) as lowest,
    max(drawn.speedup) as highest
  from drawn
  join summed using (pair_key, tier)
  group by pair_key, tier, scope, scope_label, condition
),
other as (
  select
    pair_key, summed.tier,
    list(
      distinct {'tier': placed.tier, 'speedup': round(placed.speedup, 2)}
      order by {'tier': placed.tier, 'speedup': round(placed.speedup, 2)}
    ) as other_dots
  from summed
  join placed using (pair_key)
  anti join (
    select drawn.figure, drawn.pair_key, drawn.tier
    from drawn
    join people using (pair_key, tier, person)
    where round(drawn.speedup, 2) = round(people.speedup, 2)
  ) as ring
    on ring.figure = placed.figure and ring.pair_key = placed.pair_key
    and ring.tier = summed.tier
  group by pair_key, summed.tier
),
credited as (
  select submission, min(source.source) as source
  from submission
  join source on list_contains(source.file_digests, submission.origin_sha256)
  group by submission
),
own as (
  select
    best.scope as pair_key, best.tier, best.device_label, best.device_kind, best.vram_gib,
    best.backend, best.engine_label, best.target_label, best.quantisation, best.parameters,
    best.active_parameters, best.size_class, best.size_order, best.method, best.method_label,
    best.depth, best.draft_label, best.own_tasks, best.speedup, best.interval_low,
    best.interval_high, best.stated_request, best.verdict, best.doubt, best.mark, best.recommended,
    best.choices, best.other_engine, best.other_tps, best.votes as people, best.backing,
    setup.submission, setup.engine_build as build, setup.measured_from::date::varchar as day,
    credited.source
  from best
  left join explore on explore.cell = best.candidate
  join setup on setup.submission = coalesce(best.submission, explore.submission)
  left join credited on credited.submission = setup.submission
  where best.place = 'strip'
),
printed as (
  select
    facts.pair_key, facts.tier, rate.source, rate.row_id, rate.device_label, rate.device_kind,
    rate.vram_gib, rate.backend, rate.engine_name as engine_label, rate.target_label,
    rate.quantisation, rate.parameters, rate.size_class, rate.size_order, rate.method,
    rate.method_label, rate.depth, rate.draft_label, rate.contributor,
    published_row.engine_version as build, coalesce(row_date, transcribed_on::varchar) as day
  from facts
  join published_rate as rate
    on rate.source = facts.typical.source and rate.row_id = facts.typical.row_id
  join published_row on published_row.source = rate.source and published_row.row_id = rate.row_id
  where facts.tier = 'published'
),
described as (
  select own.*, baseline_tps, rated, least, most, dots
  from own
  join summed using (pair_key, tier)
  union all by name
  select summed.*, printed.* exclude (pair_key, tier)
  from printed
  join summed using (pair_key, tier)
)
select
  split_part(pair_key, '|', 1) as device,
  split_part(pair_key, '|', 2) as target,
  split_part(pair_key, '|', 3) as task,
  rank() over (
    partition by pair_key
    order by coalesce(backing, 0), tier <> 'measured', tier = 'published'
  ) as tier_order,
  described.* exclude (pair_key) replace (coalesce(backing, 0) as backing),
  baseline_tps * speedup as tps,
  facts.* exclude (pair_key, tier, typical),
  coalesce(other_dots, []) as other_dots
from described
join facts using (pair_key, tier)
left join other using (pair_key, tier)
order by target, device, task, scope, scope_label, condition, tier_order, backend, method;
