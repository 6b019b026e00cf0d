-- One row is one setting in one place and task that the advisor learned from, as its first observation
-- names it.
select
  device, device_label, vram_gib, backend, target, target_label, quantisation, quantisation_slug,
  size_order, method, method_label, depth, draft_label, draft_slug, drafts_always, task,
  step_bytes, draft_bytes
from advice_observation
qualify row_number() over (
  partition by device, backend, target, quantisation_slug, method, depth, draft_slug, task
  order by observation
) = 1
order by observation;
