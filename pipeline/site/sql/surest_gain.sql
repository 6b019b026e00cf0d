-- One row is the best setting of one device, or of one target (by `$kind`), over all models,
-- methods and tasks of its best tier.
select *
from best
where place = $kind and tier_order = 1
order by scope;
