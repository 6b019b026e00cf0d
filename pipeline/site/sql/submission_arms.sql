-- One row is one arm of one submission, with its draft model and quantisation in one name.
select *, nullif(concat_ws(' ', draft_name, draft_quantisation), '') as draft_label
from arm
order by rowid;
