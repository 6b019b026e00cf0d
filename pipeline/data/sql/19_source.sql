-- One row is one source of figures by other people: credit, licence, address, commit and the
-- commit's day, what was taken and what was left out. `use` is imported, published, facts or
-- not-taken. `file_digests` are the files of an import; each equals `origin_sha256` of a
-- submission from the import.
create table source as
with listed as (
  select unnest(document.source) as entry
  from sources_document
),
noted as (
  select
    entry.id as source,
    entry.use,
    entry.title,
    entry.author,
    null as publisher,
    entry.url,
    entry.licence,
    entry.licence_url,
    entry.attribution,
    entry.commit,
    entry.published_on,
    coalesce(entry.taken, []) as taken,
    coalesce(entry.left_out, []) as left_out,
    entry.reason,
    coalesce(list_transform(entry.files, lambda file: file.sha256), []) as file_digests
  from listed
),
printed as (
  select
    document.source.id as source,
    'published' as use,
    document.source.title,
    document.source.author,
    document.source.publisher,
    document.source.url,
    document.source.licence,
    document.source.commit,
    document.source.published_on,
    coalesce([document.source.taken], []) as taken,
    coalesce(document.source.left_out, []) as left_out,
    [] as file_digests
  from published_document
  where document.checked_by is not null
)
select * replace (
  list_filter(taken, lambda each: each is not null) as taken,
  -- Names of licences are from SPDX, which has the text of each licence.
  coalesce(licence_url, 'https://spdx.org/licenses/' || licence || '.html') as licence_url
)
from (from noted union all by name from printed)
order by source;
