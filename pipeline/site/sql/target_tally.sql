-- One row is one target model with the numbers of its measured single-task cells that help and
-- hurt, and the number of published figures about it. A model with only published figures has
-- no submission.
with printed as (
  select
    target,
    any_value(target_label) as target_label,
    any_value(size_class) as size_class,
    list(distinct quantisation order by quantisation) as quantisations,
    list(distinct device) as devices,
    count(*) as printed
  from published_pair
  group by target
)
select
  target,
  coalesce(model.target_label, printed.target_label) as target_label,
  coalesce(parameters_label, model.size_class, printed.size_class) as size_label,
  coalesce(model.quantisations, printed.quantisations) as quantisations,
  list_concat(coalesce(tiers, []), if(printed is null, [], ['published'])) as tiers,
  len(list_distinct(list_concat(coalesce(model.devices, []), coalesce(printed.devices, []))))
    as device_count,
  coalesce(cells, 0) as cells,
  coalesce(helps, 0) as helps,
  coalesce(hurts, 0) as hurts,
  coalesce(confirmed, 0) as confirmed,
  coalesce(confirmed_losses, 0) as confirmed_losses,
  coalesce(submissions, 0) as submissions,
  coalesce(printed, 0) as printed,
  last_measured
from target as model
full join printed using (target)
left join (
  select
    target,
    count(*) as cells,
    count(*) filter (verdict = 'helps') as helps,
    count(*) filter (loses(verdict)) as hurts,
    count(*) filter (confirmed) as confirmed,
    count(*) filter (confirmed and loses(verdict)) as confirmed_losses
  from cell
  where tier = 'measured' and task <> 'all'
  group by target
) using (target)
left join (
  select target, list(distinct tier order by tier desc) as tiers
  from setup
  where counted
  group by target
) using (target)
order by target;
