-- One row is one strip: the figure of a device with a model on one task, in one tier. `selection`
-- is the set from which the strip's setting was chosen: 0 all backends and methods, which pages
-- draw; 1 the methods of one backend; 2 the backends of one method; 3 a single backend and
-- method. Measured and imported strips are those of the table `best`. A published strip is the
-- median over people of each person's median, for the method that most people have tried with the
-- model (or, if the device lacks that method, with the device). Each person counts with the depth
-- nearest to the usual depth. That figure is `moved` to the usual depth by the factor of
-- `input_depth`, so that nobody is left out for a comparable depth. `baseline_tps` is the median
-- of the same people's plain rates. Runs that differ in more than speculation (`confounded`)
-- count only if there are no others; of the rest, `lesser` figures also count only without
-- others. A strip without a known contributor (`backing`) comes after published strips. `dots`
-- are the figures of the drawn setting, `other_dots` the figures of other settings and tiers: the
-- cost of a wrong choice.
create table strip as
with placed as (
  select
    *,
    selection,
    concat_ws(
      '|', device, target, view,
      if(selection in (1, 3), backend, 'all'),
      if(selection in (2, 3), method, 'all')
    ) as strip_key
  from strip_figure
  cross join (select unnest([0, 1, 2, 3]) as selection)
),
group_method as (
  select target, arg_max(method, (people, -position)) as usual_method
  from (
    select target, method, position, count(distinct person) as people
    from strip_figure
    join vocabulary_method on vocabulary_method.id = method
    where view = 'all' and condition is null and backing = 0
    group by target, method, position
  )
  group by target
),
tried as (
  select strip_key, condition, selection, target, method, count(distinct person) as people
  from placed
  where tier = 'published'
  group by all
),
picked as (
  select tried.*
  from tried
  left join group_method using (target)
  join vocabulary_method on vocabulary_method.id = tried.method
  qualify row_number() over (
    partition by strip_key, condition, selection
    order by tried.method = usual_method desc nulls last, people desc, position
  ) = 1
),
unconfounded as (
  select placed.*
  from placed
  join picked
    on picked.strip_key = placed.strip_key and picked.selection = placed.selection
    and picked.method = placed.method and picked.condition is not distinct from placed.condition
  where tier = 'published'
  qualify not confounded
    or bool_and(confounded) over (partition by placed.strip_key, placed.condition, placed.selection)
),
comparable as (
  select *
  from unconfounded
  qualify not lesser or bool_and(lesser) over (partition by strip_key, condition, selection)
),
at_depth as (
  select
    comparable.* replace (speedup * coalesce(factor, 1) as speedup),
    depth <> usual_depth and factor is not null as moved
  from comparable
  left join input_depth using (target, method, depth)
  qualify depth is not distinct from first_value(depth) over (
      partition by strip_key, condition, selection, person
      order by factor is null, abs(depth - usual_depth) nulls last, depth nulls last
    )
    and (
      factor is not null
      or depth is null
      or depth is not distinct from first_value(depth) over (
        partition by strip_key, condition, selection
        order by factor is null, abs(depth - usual_depth) nulls last, depth nulls last
      )
    )
),
drawn as (
  select * from at_depth
  union all by name
  select placed.*, false as moved
  from placed
  join best
    on best.place = 'strip' and best.scope = placed.strip_key and best.tier = placed.tier
    and best.candidate = placed.candidate
  where placed.newest
),
people as (
  select
    strip_key, condition, selection, tier, person,
    exp(median(ln(speedup))) as speedup,
    exp(median(ln(baseline_tps))) as baseline_tps
  from drawn
  group by all
),
summed as (
  select
    strip_key, condition, selection, tier,
    exp(median(ln(speedup))) as speedup,
    exp(median(ln(baseline_tps))) as baseline_tps,
    min(speedup) as least,
    max(speedup) as most,
    count(*) as people
  from people
  group by all
),
facts as (
  select
    drawn.strip_key, drawn.condition, drawn.selection, drawn.tier,
    count(*) as figures,
    list(distinct drawn.task order by drawn.task) as tasks,
    list(distinct drawn.backend order by drawn.backend) as backends,
    coalesce(
      list(distinct drawn.quantisation order by drawn.quantisation) filter (
        drawn.quantisation is not null
      ),
      []
    ) as quantisations,
    coalesce(
      list(distinct drawn.draft_label order by drawn.draft_label) filter (
        drawn.draft_label is not null
      ),
      []
    ) as drafts,
    coalesce(list(distinct drawn.cache order by drawn.cache) filter (drawn.cache is not null), [])
      as caches,
    bool_and(confounded) as confounded,
    bool_and(lesser) as lesser,
    bool_or(moved) as moved,
    coalesce(
      list(distinct drawn.depth order by drawn.depth) filter (drawn.depth is not null), []
    ) as depths,
    arg_min(
      {'source': source, 'row_id': row_id}, (abs(ln(drawn.speedup / summed.speedup)), figure)
    ) as nearest,
    list(distinct round(drawn.speedup, 2) order by round(drawn.speedup, 2)) as dots
  from drawn
  join summed
    on summed.strip_key = drawn.strip_key and summed.selection = drawn.selection
    and summed.tier = drawn.tier and summed.condition is not distinct from drawn.condition
  group by all
),
other as (
  select
    summed.strip_key, summed.condition, summed.selection, summed.tier,
    list(
      distinct {'tier': placed.tier, 'speedup': round(placed.speedup, 2)}
      order by {'tier': placed.tier, 'speedup': round(placed.speedup, 2)}
    ) as other_dots
  from summed
  join placed
    on placed.strip_key = summed.strip_key and placed.selection = summed.selection
    and placed.condition is not distinct from summed.condition
  anti join drawn
    on drawn.figure = placed.figure and drawn.selection = placed.selection
    and drawn.strip_key = placed.strip_key and drawn.tier = summed.tier
  group by all
),
credited as (
  select submission, min(source.source) as source
  from submission
  join source on list_contains(source.file_digests, submission.origin_sha256)
  group by submission
),
own as (
  select
    best.scope as strip_key, best.tier, best.device_label, best.device_kind, best.vram_gib,
    best.backend, best.engine_label, best.target_label, best.quantisation, best.parameters,
    best.active_parameters, best.size_class, best.size_order, best.method, best.method_label,
    best.depth, best.draft_label, best.own_tasks, best.speedup, best.interval_low,
    best.interval_high, best.stated_request, best.verdict, best.doubt, best.mark, best.recommended,
    best.choices, best.other_engine, best.other_tps, best.votes as people, best.backing,
    setup.submission, setup.engine_build as build, setup.measured_from::date::varchar as day
  from best
  left join explore on explore.cell = best.candidate
  join setup on setup.submission = coalesce(best.submission, explore.submission)
  where best.place = 'strip'
),
printed as (
  select
    rate.source, rate.row_id, rate.device_label, rate.device_kind, rate.vram_gib, rate.backend,
    rate.engine_name as engine_label, rate.target_label, rate.quantisation, rate.parameters,
    rate.size_class, rate.size_order, rate.method, rate.method_label, rate.depth, rate.draft_label,
    rate.contributor, published_row.engine_version as build,
    coalesce(row_date, transcribed_on::varchar) as day
  from published_rate as rate
  join published_row using (source, row_id)
),
described as (
  select
    summed.strip_key, summed.condition, summed.selection, summed.tier,
    own.* exclude (strip_key, tier),
    credited.source, null::varchar as row_id, null::varchar as contributor,
    baseline_tps, least, most
  from summed
  join own on own.strip_key = summed.strip_key and own.tier = summed.tier
  left join credited using (submission)
  union all by name
  select
    summed.* exclude (speedup), summed.speedup,
    printed.*
  from summed
  join facts
    on facts.strip_key = summed.strip_key and facts.selection = summed.selection
    and facts.tier = summed.tier and facts.condition is not distinct from summed.condition
  join printed on printed.source = facts.nearest.source and printed.row_id = facts.nearest.row_id
  where summed.tier = 'published'
)
select
  split_part(described.strip_key, '|', 1) as device,
  split_part(described.strip_key, '|', 2) as target,
  split_part(described.strip_key, '|', 3) as task,
  rank() over (
    partition by described.strip_key, described.condition, described.selection
    order by coalesce(backing, 0), described.tier <> 'measured', described.tier = 'published'
  ) as tier_order,
  described.* exclude (strip_key) replace (coalesce(backing, 0) as backing),
  facts.* exclude (strip_key, condition, selection, tier, nearest),
  coalesce(other_dots, []) as other_dots
from described
join facts
  on facts.strip_key = described.strip_key and facts.selection = described.selection
  and facts.tier = described.tier and facts.condition is not distinct from described.condition
left join other
  on other.strip_key = described.strip_key and other.selection = described.selection
  and other.tier = described.tier and other.condition is not distinct from described.condition
order by target, device, task, selection, condition, tier_order, backend, method;
