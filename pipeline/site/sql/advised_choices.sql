-- One row is one method at one depth with one draft that the advisor learned from, as its first
-- observation names it; then every method at every depth by itself, which has no draft.
select
  method,
  first(method_label order by observation) as label,
  depth,
  if(first(drafts_always order by observation), 'all', 'task') as scope,
  draft_slug as draft,
  if(grouping(draft_slug) = 0, first(draft_label order by observation), null) as draft_label,
  if(grouping(draft_slug) = 0, list_sort(list_distinct(list(target))), []) as targets,
  if(grouping(draft_slug) = 0, first(draft_bytes order by observation), null) as draft_bytes
from advice_observation
group by grouping sets ((method, depth, draft_slug), (method, depth))
order by grouping(draft_slug), concat_ws('|', method, depth, draft_slug);
