-- One row is the names of one submission: device, rig, voter and target, computed in
-- Python. `address_stem` is the beginning of the addresses of the submission's cells.
create table identity as
select submission, identity.* exclude (settings)
from submission_document
order by submission;
