-- One row is one kind of text of one arm on a V100: the error of predicting the cost of a round
-- on this kind from the other kinds. If the text's tokens per round are known, the speedup has
-- the same error.
with kind as (
  select
    submission,
    arm,
    regexp_replace(prompt, '-\d+$', '') as text_kind,
    median(round_cost) as cost
  from prompt_estimate
  where submission like 'nvidia-tesla-v100-%' and round_cost is not null
  group by all
)

select abs(median(other.cost) / own.cost - 1) as off
from kind as own
join kind as other using (submission, arm)
where own.text_kind <> other.text_kind
group by own.submission, own.arm, own.text_kind, own.cost
order by off;
