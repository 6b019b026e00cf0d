-- One row is one arm of one submission, with its draft model and quantisation in one name, the
-- geometric mean over its prompts (the figure of sources that weight prompts instead of
-- tasks), and the variation of its ratio between starts.
with meant as (
  select submission, arm, exp(avg(ln(speedup))) as over_prompts
  from prompt_estimate
  where speedup > 0
  group by submission, arm
)
select
  arm.*,
  nullif(concat_ws(' ', draft_name, draft_quantisation), '') as draft_label,
  over_prompts,
  spread_of_starts.starts,
  spread_of_starts.spread as start_spread,
  spread_of_starts.low as start_spread_low,
  spread_of_starts.high as start_spread_high
from arm
left join meant using (submission, arm)
left join start_spread using (submission, arm)
order by arm.rowid;
