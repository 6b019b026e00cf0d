-- One row is one accepted submission as a typed value, with its names and its summary. $document,
-- $trials, $identity and $summary are structures generated from the schema and from dataclasses.
-- Every table that is made from this table sorts its rows.
create table submission_document as
select
  submission,
  file,
  preview,
  key,
  from_json(document, $document) as document,
  from_json(document, $trials).trials as trials,
  len(trials) as trial_count,
  1 + list_max(list_transform(trials, lambda trial: trial.block)) as blocks_done,
  from_json(identity, $identity) as identity,
  from_json(summary, $summary) as summary
from input_submission;
