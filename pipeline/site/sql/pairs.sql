-- One row is one device with one model, over all tasks, in its best tier: one row for each pair, or
-- one row for each of its methods (by `$scope`).
select *
from pair
where scope = $scope and task = 'all' and condition is null and tier_order = 1
order by target, device, method;
