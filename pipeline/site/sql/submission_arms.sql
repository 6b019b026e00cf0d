-- One row is one arm of one submission, with its draft model and quantisation in one name, and the
-- geometric mean over its prompts (the figure of sources that weight prompts instead of tasks).
with meant as (
  select submission, arm, exp(avg(ln(speedup))) as over_prompts
  from prompt_estimate
  where speedup > 0
  group by submission, arm
)
select
  arm.*,
  nullif(concat_ws(' ', draft_name, draft_quantisation), '') as draft_label,
  over_prompts
from arm
left join meant using (submission, arm)
order by arm.rowid;
