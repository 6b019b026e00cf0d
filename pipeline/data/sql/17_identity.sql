-- One row is the names of one submission: device, rig, voter and target, decided in Python.
-- `address_stem` is the beginning of the addresses of its cells.
create table identity as
select submission, identity.* exclude (settings)
from submission_document
order by submission;
