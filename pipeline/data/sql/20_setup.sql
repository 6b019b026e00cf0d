-- One row is the setup of one submission: its device, rig, target and settings, under display
-- names. `vram_gib` is the total memory of the GPUs in use. `known`: maintainers have looked
-- at the submission's sender, or at the source of the import, of which nothing is withdrawn.
create table setup as
with withdrawn as (
  select origin_sha256
  from submission
  join standing using (submission)
  where standing in ('withdrawn', 'quarantined') and origin_sha256 is not null
)
select
  submission,
  tier,
  preview,
  standing,
  counted,
  profile,
  contributor,
  coalesce(entry.document.status = 'known' and lower(contributor) <> 'anonymous', false)
    or coalesce(
      origin_sha256 in (select unnest(file_digests) from source)
        and origin_sha256 not in (select origin_sha256 from withdrawn),
      false
    )
    as known,
  voter,
  machine,
  rig,
  rig_label,
  device,
  device_label,
  device_name,
  device_kind,
  vram_gib,
  backend,
  runner,
  engine_name,
  engine_label,
  engine_build,
  target,
  target_label,
  conditions,
  suite_label,
  measured_with,
  submission.quantisation,
  parameters,
  active_parameters,
  parameters_label(parameters)
    || coalesce(' (' || parameters_label(nullif(active_parameters, parameters)) || ' active)', '')
    as parameters_label,
  size_class(parameters) as size_class,
  size_order(parameters) as size_order,
  measured_from,
  measured_until
from submission
join standing using (submission)
join identity using (submission)
left join lifecycle_document as entry on entry.file = contributor_entry(contributor)
order by submission;
