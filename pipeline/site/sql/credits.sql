-- One row is one imported submission with the source that is credited for it. If the source of its
-- file is not listed, the submission's own origin is credited.
select
  submission,
  setup.device,
  setup.target,
  setup.counted,
  source.source,
  coalesce(source.author, submission.origin_source, 'unknown author') as author,
  coalesce(source.title, submission.origin_source) as title,
  source.url,
  coalesce(source.licence, submission.origin_licence) as licence,
  source.licence_url,
  source.commit
from submission
join setup using (submission)
left join source on list_contains(source.file_digests, submission.origin_sha256)
where submission.tier = 'imported'
order by submission, source.source;
