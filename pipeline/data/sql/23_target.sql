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
  any_value(target_label order by submission) filter (decides) as target_label,
  any_value(target_family order by submission) filter (decides) as target_family,
  any_value(architecture order by submission) filter (decides) as architecture,
  max(parameters) filter (decides) as parameters,
  max(active_parameters) filter (decides) as active_parameters,
  any_value(parameters_label order by parameters desc nulls last, submission)
    filter (decides) as parameters_label,
  size_class(max(parameters) filter (decides)) as size_class,
  size_order(max(parameters) filter (decides)) as size_order,
  max(layers) filter (decides) as layers,
  any_value(repository order by submission) filter (decides) as repository,
  list(distinct quantisation order by quantisation) as quantisations,
  list(distinct device order by device) as devices,
  count(*) as submissions,
  count(distinct rig) as rigs,
  count(distinct contributor) as contributors,
  max(measured_from) as last_measured
from latest
group by target
order by target;
