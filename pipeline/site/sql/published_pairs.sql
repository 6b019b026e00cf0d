-- One row is one published rate with speculation over its baseline, with the source to credit.
-- Two marks are added: whether the rate is the highest of its device in which only speculation
-- differs, and whether it is the highest of its target on the device. In the second, runs that
-- differ in more than speculation count only if there are no others.
select
  published_pair.*,
  count(*) over (partition by device) as of_device,
  len(also_differs) = 0 and row_number() over (
    partition by device
    order by len(also_differs) > 0, speedup desc, size_order, source, published_pair.position
  ) = 1 as highest,
  row_number() over (
    partition by target, device
    order by len(also_differs) > 0, speedup desc, size_order, source, published_pair.position
  ) = 1 as highest_of_target,
  source.title,
  coalesce(source.author, source.publisher, 'an author whom the source does not name') as author,
  source.url,
  source.licence,
  source.licence_url,
  source.commit,
  source.use
from published_pair
join source using (source)
order by device, size_order, speedup desc, source, published_pair.position;
