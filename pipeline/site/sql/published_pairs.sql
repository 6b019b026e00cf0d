-- One row is one published rate with speculation over its baseline, with the source to credit.
select
  published_pair.*,
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
