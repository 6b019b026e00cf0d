-- One row is one published rate of a series that a source ran at several values of `$axis`, requests
-- at once or tokens before the answer, with nothing else changed; `place` is that value.
with listed as (
  select
    *,
    if($axis = 'concurrency', concurrency, prompt_tokens) as value,
    concat_ws(' · ', device_label, nullif(backend, 'not stated'), target_label || coalesce(' ' || quantisation, ''))
      as place_label,
    concat_ws(' · ', method_label, 'depth ' || depth, draft_label) as arm_label,
    if($axis = 'concurrency', prompt_tokens, coalesce(concurrency, 1)) as fixed
  from published_rate
  where speedup is not null and len(coalesce(also_differs, [])) = 0
)
select
  listed.* exclude (fixed),
  source.title,
  coalesce(source.author, source.publisher, 'an author whom the source does not name') as author,
  source.url,
  source.licence,
  source.licence_url,
  source.commit,
  source.use
from listed
join source using (source)
where value is not null and ($axis = 'concurrency' or fixed = 1)
qualify count(distinct value) over (
  partition by source, contributor, place_label, arm_label, fixed
) > 1
order by place_label, arm_label, value, listed.position;
