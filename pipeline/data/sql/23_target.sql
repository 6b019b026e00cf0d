-- One row is one target model, over all its quantisations.
create table target as
with latest as (
  select
    setup.*,
    known or not bool_or(known) over (partition by target) as decides,
    submission.target_family,
    submission.architecture,
    submission.layers,
    submission.repository
  from setup
  join submission using (submission)
  where counted
)
select
  target,
  any_value(
    columns(['target_label', 'target_family', 'architecture', 'repository']) order by submission
  ) filter (decides),
  max(columns(['parameters', 'active_parameters', 'layers'])) filter (decides),
  any_value(parameters_label order by parameters desc nulls last, submission)
    filter (decides) as parameters_label,
  size_class(max(parameters) filter (decides)) as size_class,
  size_order(max(parameters) filter (decides)) as size_order,
  list(distinct quantisation order by quantisation) as quantisations,
  list(distinct device order by device) as devices,
  count(*) as submissions,
  count(distinct rig) as rigs,
  count(distinct contributor) as contributors,
  max(measured_from) as last_measured
from latest
group by target
order by target;
