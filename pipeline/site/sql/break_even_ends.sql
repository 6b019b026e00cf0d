-- One row is one measured cell of a single task that is `clear`: the ten that win most and the ten
-- that lose most, by the bound nearest to 1. The first cell is there even if none is clear.
-- Of all such `cells`, `losing` lie below the line, and `hopeless` could not win with any draft.
with placed as (
  select
    *,
    count(*) over () as cells,
    count(*) filter (tokens_per_round < round_cost) over () as losing,
    count(*) filter (cannot_win) over () as hopeless,
    verdict in ('helps', 'hurts') as clear,
    if(verdict = 'helps', interval_low, 1 / interval_high) as margin,
    row_number() over (order by cell) as place
  from break_even
  where tier = 'measured' and task <> 'all'
)
select *
from placed
qualify clear and row_number() over (partition by verdict order by margin desc, cell) <= 10
  or place = 1
order by clear desc, verdict, if(verdict = 'helps', -margin, margin), cell;
