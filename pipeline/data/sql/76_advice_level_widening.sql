-- One row is how many times as wide as its spread says the part of an interval that comes from one
-- level must be, for one method: a pool's voters differ by less than the models, quantisations and
-- devices that it stands for. `left_out` is null, or the fold of voters who were not looked at.
create table advice_level_widening as
from widenings('advice_left_out', 1.0, 0);
