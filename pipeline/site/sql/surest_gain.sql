-- One row is the best setting of one device, or of one target (`$kind` names which), over all
-- models, methods and tasks of the best tier that it has.
select *
from best
where place = $kind and tier_order = 1
order by scope;
