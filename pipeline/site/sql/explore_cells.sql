-- One row is one line of the page Explore: a cell, ordered by its certain gain, or a published
-- figure, with its address as the evidence. A published figure has no interval. Figures of several
-- requests at once are left out if the device or the model has no figure of a single request.
with printed as (
  select
    source || '/' || row_id as cell,
    rate.* exclude (
      source, row_id, position, engine_name, contributor, also_differs, doubts, offload, kinds,
      row_url, place, prompt_tokens
    ) replace (
      coalesce(task, 'unstated') as task,
      coalesce(quantisation, 'not stated') as quantisation,
      coalesce(concurrency, 1) as concurrency
    ),
    coalesce(engine_name, 'not stated') as engine_label,
    nullif(array_to_string(kinds, ', '), '') as conditions,
    false as at_most,
    coalesce(row_url, 'data/#' || source) as submission,
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
