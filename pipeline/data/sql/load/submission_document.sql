-- One row is one accepted submission as a typed value, with its names and its summary.
-- $document, $identity and $summary are structures generated from the schema and from dataclasses.
create table submission_document as
select
  submission,
  file,
  preview,
  from_json(document, $document) as document,
  from_json(identity, $identity) as identity,
  from_json(summary, $summary) as summary
from incoming_submission
order by submission;
