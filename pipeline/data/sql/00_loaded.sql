-- One row is one accepted submission as it was loaded: the digest of its inputs, which is empty
-- without a cache, and the number of its trials.
create table loaded as
select submission, key, trial_count as trials
from submission_document
order by submission;
