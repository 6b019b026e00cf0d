-- One row is one device with the numbers of its measured single-task cells that help and hurt, and
-- the number of published figures about it. A device with only published figures has no rig and no
-- date.
with tally as (
  select
    device,
    count(*) as cells,
    count(*) filter (verdict = 'helps') as helps,
    count(*) filter (loses(verdict)) as hurts,
    count(*) filter (confirmed) as confirmed,
    count(*) filter (confirmed and loses(verdict)) as confirmed_losses
  from cell
  where tier = 'measured' and task <> 'all'
  group by device
),
tiers as (
  select device, list(distinct tier) as counted_tiers from setup where counted group by device
),
printed as (
  select
    device,
    any_value(device_label) as device_label,
    any_value(vram_gib) as vram_gib,
    list(distinct backend order by backend) as backends,
    count(*) as printed
  from published_pair
  group by device
)
select
  device,
  coalesce(device.device_label, printed.device_label) as device_label,
  coalesce(device.vram_gib, printed.vram_gib) as vram_gib,
  coalesce(device.backends, printed.backends) as backends,
  list_filter(
    ['measured', 'imported', 'published'],
    lambda tier: list_contains(
      list_append(coalesce(counted_tiers, []), if(printed is null, null, 'published')), tier
    )
  ) as tiers,
  coalesce(cells, 0) as cells,
  coalesce(helps, 0) as helps,
  coalesce(hurts, 0) as hurts,
  coalesce(confirmed, 0) as confirmed,
  coalesce(confirmed_losses, 0) as confirmed_losses,
  coalesce(rigs, 0) as rigs,
  coalesce(submissions, 0) as submissions,
  coalesce(printed, 0) as printed,
  last_measured
from device
full join printed using (device)
left join tally using (device)
left join tiers using (device)
-- Several cards of one kind come after the single card.
order by regexp_replace(device, '^[0-9]+-x-', ''), device;
