-- One row is one accepted submission as a typed value, with what it says (its summary) beside it.
-- $document and $summary are the structures generated from the schema and from the result types.
create table submission_document as
select
  submission,
  file,
  preview,
  from_json(document, $document) as document,
  from_json(summary, $summary) as summary
from incoming_submission
order by submission;
