-- One row is how one submission is named: device, rig, voter and target, decided in Python.
-- `address_stem` is what the addresses of its cells begin with.
create table identity as
select submission, identity.* exclude (settings)
from submission_document
order by submission;
