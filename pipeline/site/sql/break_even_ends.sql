-- One row is one measured cell of a single task: the ten that win most and the ten that lose most.
-- Of all such `cells`, `losing` lie below the line, and `hopeless` could not win with any draft.
with placed as (
  select
    *,
    count(*) over () as cells,
    count(*) filter (tokens_per_round < round_cost) over () as losing,
    count(*) filter (cannot_win) over () as hopeless,
    row_number() over (order by coalesce(speedup, 0) desc, cell) as place
  from break_even
  where tier = 'measured' and task <> 'all'
)
select * from placed where place <= 10 or place > cells - 10 order by place;
