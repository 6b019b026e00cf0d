-- The same table from partitions that `pipeline/data/facts.py` wrote: their documents are typed
-- already. A summary that the rest of the corpus changed comes as text next to them. The order is that
-- of the partitions; every table that is made of this one sorts its rows.
create table submission_document as
select
  submission,
  file,
  preview,
  document,
  trial_count,
  blocks_done,
  identity,
  coalesce(from_json(incoming_changed.summary, $summary), stored.summary) as summary
from incoming_stored as stored
join incoming_wanted using (key, filename)
left join incoming_changed using (key);
