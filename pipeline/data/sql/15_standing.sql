-- One row is the status of one submission: whether it counts and, if not, the reason and the day.
-- Nothing is ever removed, so every submission has exactly one row. Figures that
-- cannot be right, or of an unidentified device (`flagged`), count in no aggregate, but a local
-- preview shows them. A lifecycle entry may end one result, or all results of a contributor.
create table standing as
with ended as (
  select
    submission,
    coalesce(own.document, everything.document) as entry
  from submission
  left join lifecycle_document as own on own.file = submission.file
  left join lifecycle_document as everything
    on everything.file = contributor_entry(contributor)
    and everything.document.status <> 'known'
  where not preview and coalesce(own.document, everything.document) is not null
),
uneven as (
  select distinct submission
  from estimate
  where verdict = 'never-drafted'
    and (clearly_above(interval_low, interval_high) or clearly_below(interval_low, interval_high))
),
implausible as (
  select submission, any_value(message order by position) as message
  from flag
  left join uneven using (submission)
  where flag = 'device-unidentified'
    or severity = 'serious'
    and flag in (
      'above-roofline', 'cheap-rounds', 'copied-times', 'repeated-block', 'uneven-baseline',
      'zero-spread'
    )
    or flag = 'never-drafted' and uneven.submission is not null
  group by submission
)
select
  submission.submission,
  submission.file,
  case
    when ended.entry is not null then ended.entry.status
    when implausible.submission is not null then 'flagged'
    else 'counted'
  end as standing,
  standing = 'counted' as counted,
  coalesce(ended.entry.reason, implausible.message) as standing_reason,
  ended.entry.date as standing_since
from submission
left join ended on ended.submission = submission.submission
left join implausible on implausible.submission = submission.submission
  and not submission.preview
order by submission.submission;
