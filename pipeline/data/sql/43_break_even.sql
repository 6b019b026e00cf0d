-- One row is one cell in the break-even plane: the cell wins if its tokens per round exceed the
-- round cost. Arms that never drafted have no rounds. `cannot_win`: even a fully accepted draft
-- (depth + 1 tokens a round) would not pay for the round.
create table break_even as
select
  *,
  tokens_per_round - round_cost as margin_tokens,
  coalesce(round_cost > depth + 1, false) as cannot_win
from cell
where tokens_per_round is not null and round_cost is not null and verdict <> 'never-drafted'
order by cell;
