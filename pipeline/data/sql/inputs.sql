-- One row is one submission with a digest of what its exported rows and its page depend on, except
-- for sources; `key` stands for its file.
select
  submission,
  md5(row(key, setup, standing_reason, standing_since)::varchar) as inputs
from loaded
join setup using (submission)
join standing using (submission)
order by submission;
