-- One row is one cell with a clear verdict: the setting, task, context and number of streams with
-- which a method gains or loses. Some settings are faster per token but slower over the whole
-- request: `pays_from` is the answer length above which such a setting saves time, from the
-- cell's newest submission. Programs act on these rows, so only the best-backed cells of a
-- setting are listed: an unknown account does not change advice from known people.
select
  explore.*,
  case when explore.verdict = 'helps' then 'gains' else 'loses' end as effect,
  evidence.pays_from_tokens,
  evidence.pays_from_low,
  evidence.pays_from_high
from explore
left join evidence
  on explore.verdict = 'slower-in-all'
  and evidence.submission = explore.submission and evidence.task = explore.task
  and evidence.method = explore.method and evidence.depth is not distinct from explore.depth
  and evidence.draft_label is not distinct from explore.draft_label
  and evidence.concurrency = explore.concurrency
where has_verdict(explore.verdict) and explore.verdict <> 'no-clear-difference'
qualify explore.backing = min(explore.backing) over (
  partition by explore.device, explore.target, explore.quantisation, explore.backend,
    explore.engine_label, explore.method, explore.depth, explore.draft_label, explore.tier
)
order by device, target, quantisation, backend, engine_label, explore.method, explore.depth,
  explore.draft_label, tier, explore.task, context_depth nulls first, explore.concurrency, cell;
