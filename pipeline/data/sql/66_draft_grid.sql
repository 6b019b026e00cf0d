-- One row is one draft model in one quantisation for one target in one quantisation on one device:
-- the published speedup with the draft, and whether the draft `loses`. Rows of a target and a
-- device are ordered by the size of the draft, then as in their source.
create table draft_grid as
select
  pair.device,
  pair.device_label,
  pair.backend,
  pair.target,
  pair.target_label,
  pair.parameters,
  pair.quantisation,
  pair.draft_label,
  printed.draft_parameters_b,
  printed.draft_quantisation,
  pair.depth,
  pair.task,
  pair.baseline_tps,
  pair.tps,
  pair.speedup,
  pair.speedup < 1 as loses,
  coalesce(
    pair.contributor, source.author, source.publisher,
    'an author whom the source does not name'
  ) as author,
  source.licence,
  pair.source,
  pair.row_id
from published_pair as pair
join published_row as printed using (source, row_id)
join source using (source)
where pair.method = 'draft-model' and pair.speedup is not null and len(pair.also_differs) = 0
  and len(pair.doubts) = 0 and pair.offload is null
  and printed.draft_quantisation is not null
order by pair.target, pair.device, pair.source, printed.draft_parameters_b,
  min(pair.position) over (
    partition by pair.source, pair.target, pair.device, pair.draft_label, printed.draft_quantisation
  ),
  pair.position;
