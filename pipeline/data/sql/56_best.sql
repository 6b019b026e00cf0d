-- One row is one claim: a figure that is printed as the best of several. `place` is the picker,
-- `scope` the set that it picks from, and `choices` the number of settings in the set, with
-- figures from `least` to `most`. The bounds towards 1 and the verdict allow for the choice
-- (`estimates.intervals`): for a clear gain, pages print the lower bound. A figure
-- without a known contributor is picked only if there is no other, and does not count as a
-- choice beside others (`backing`). Among figures of known contributors, a confirmed gain comes
-- first. A pick clearly helps if any setting does, and has the highest lower bound of the
-- settings that do. It is `recommended` unless it hurts or a whole request with it is clearly
-- slower. A setting that another engine beats without speculation is picked last. Each tier has
-- its own claims; `tier_order` is 1 for the best tier of a scope. Strips use the newest version
-- of a suite and, for a method without a figure over all tasks, each single task.
create table best as
with offered as (
  -- Only deciding evidence is used, because every offer becomes a dozen rows.
  select
    rowid as offer, kind, candidate, submission, tier, device, backend, engine_label, target,
    quantisation, method, depth, task, speedup, interval_low, interval_high, stated_request,
    stated_request_low, stated_request_high, slower_request, verdict, confirmed, backing, other_tps,
    kind = 'cell' or (own_tasks and shown) as drawn,
    drawn and suite_version(suite_label) = max(suite_version(suite_label)) over pair as newest,
    if(
      bool_or(task = 'all' and drawn) over (pair_and_method), [task], list_distinct([task, 'all'])
    ) as views
  from candidate
  window
    pair as (partition by tier, device, target, backing),
    pair_and_method as (partition by tier, device, target, method, backing)
),
placed as (
  select
    * exclude (views, newest, drawn),
    unnest(
      if(
        kind = 'cell',
        [
          {'place': 'device', 'scope': device},
          {'place': 'target', 'scope': target},
          {'place': 'device-task', 'scope': concat_ws('|', device, task)},
          {'place': 'target-task', 'scope': concat_ws('|', target, task)},
          {'place': 'overall', 'scope': 'all'}
        ],
        [{'place': 'submission', 'scope': submission}]
      ) || if(
        kind = 'cell' and task = 'all' and starts_with(engine_label, 'llama.cpp'),
        [{
          'place': 'setting',
          'scope': concat_ws('|', device, backend = 'cpu', target, quantisation, method, depth)
        }],
        []
      ) || if(
        newest,
        flatten(list_transform(views, lambda view: [
          {'place': 'strip', 'scope': concat_ws('|', device, target, view, 'all', 'all')},
          {'place': 'strip', 'scope': concat_ws('|', device, target, view, backend, 'all')},
          {'place': 'strip', 'scope': concat_ws('|', device, target, view, 'all', method)},
          {'place': 'strip', 'scope': concat_ws('|', device, target, view, backend, method)}
        ])),
        []
      ),
      recursive := true
    )
  from offered
),
-- A window in place of this join takes twenty times as long.
counted as (
  select
    place, scope, tier, backing,
    count(*) as choices, min(speedup) as least, max(speedup) as most
  from placed
  group by place, scope, tier, backing
),
-- A strip's interval is corrected for all settings of its pair, so that every page prints the same.
compared as (
  select counted.*, whole.choices as compared_with
  from counted
  join counted as whole
    on whole.place = counted.place and whole.tier = counted.tier
    and whole.backing = counted.backing
    and whole.scope = if(
      counted.place = 'strip',
      regexp_replace(counted.scope, '[^|]*[|][^|]*$', 'all|all'),
      counted.scope
    )
),
bounded as (
  select
    placed.* replace (
      chosen_low(speedup, interval_low, factor) as interval_low,
      chosen_low(stated_request, stated_request_low, factor) as stated_request_low,
      slower_request
        or coalesce(clearly_below(stated_request_low, stated_request_high), false)
        as slower_request
    ),
    compared.choices,
    least,
    most
  from placed
  join compared using (place, scope, tier, backing)
  asof join choice_factor on compared.compared_with <= choice_factor.choices
),
judged as (
  select
    * replace (
      if(
        verdict = 'helps',
        verdict_of(interval_low, interval_high, stated_request_low, stated_request_high),
        verdict
      ) as verdict
    )
  from bounded
),
chosen as (
  select
    * replace (confirmed and verdict = 'helps' as confirmed),
    not loses(verdict) and not slower_request as recommended
  from judged
  qualify row_number() over (
    partition by place, scope, tier
    order by
      backing, confirmed desc, verdict = 'helps' desc, recommended desc, other_tps is null desc,
      has_verdict(verdict) desc, interval_low desc nulls last, speedup desc, candidate, task
  ) = 1
)
select
  chosen.place,
  chosen.scope,
  chosen.tier,
  row_number() over (
    partition by chosen.place, chosen.scope order by chosen.backing, chosen.tier = 'measured' desc
  ) as tier_order,
  chosen.choices,
  chosen.least,
  chosen.most,
  chosen.recommended,
  mark_of(chosen.verdict, chosen.confirmed) as mark,
  whole.* exclude (kind, shown, suite_label, slower_request, tier) replace (
    chosen.interval_low as interval_low,
    chosen.stated_request_low as stated_request_low,
    chosen.verdict as verdict,
    chosen.confirmed as confirmed
  )
from chosen
join candidate as whole on whole.rowid = chosen.offer
order by place, scope, tier_order;
