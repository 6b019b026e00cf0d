-- One row is what one width of a step cost, on one device with one target: in the last campaign.
with quantisations as (
  select quantisation, last(quantisation_slug order by rowid) as quantisation_slug
  from advice_observation
  group by quantisation
)
select
  device,
  backend,
  target,
  quantisation_slug,
  width,
  last(step_ratio order by verification_curve.rowid) as step_ratio
from verification_curve
join quantisations using (quantisation)
group by device, backend, target, quantisation_slug, width
order by min(verification_curve.rowid);
