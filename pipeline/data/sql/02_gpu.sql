-- One row is one graphics processor of one submission's machine, in the driver's order from 1.
create table gpu as
with listed as (
  select
    submission,
    unnest(document.machine.gpus) as gpu,
    generate_subscripts(document.machine.gpus, 1) as position
  from submission_document
)
select submission, position, gpu.*
from listed
order by submission, position;
