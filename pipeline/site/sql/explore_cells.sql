-- One row is one line of the page Explore: a cell, ordered by its certain gain, or a published
-- figure, with its address as the evidence. A published figure has no interval. Figures of several
-- requests at once are left out if the device or the model has no figure of a single request.
with printed as (
  select
    rate.source || '/' || rate.row_id as cell,
    rate.tier,
    coalesce(rate.task, 'unstated') as task,
    rate.device,
    rate.device_label,
    rate.device_kind,
    rate.vram_gib,
    rate.backend,
    coalesce(rate.engine_name, 'not stated') as engine_label,
    rate.target,
    rate.target_label,
    rate.parameters,
    rate.size_class,
    rate.size_order,
    coalesce(rate.quantisation, 'not stated') as quantisation,
    rate.method,
    rate.method_label,
    rate.depth,
    rate.draft_label,
    coalesce(rate.concurrency, 1) as concurrency,
    nullif(array_to_string(rate.kinds, ', '), '') as conditions,
    rate.speedup,
    false as at_most,
    rate.baseline_tps,
    rate.tps,
    coalesce(rate.row_url, 'data/#' || rate.source) as submission,
    '' as setup,
    [] as measured_with
  from published_rate as rate
  -- Others have no page that the row could refer to.
  where device in (select device from published_pair union select device from setup)
    and target in (select target from published_pair union select target from setup)
)
select *
from explore
union all by name
from printed
order by task = 'all', interval_low is null, coalesce(backing, 0), interval_low desc,
  tier = 'published', speedup desc nulls last, cell;
