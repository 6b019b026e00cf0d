-- One row is one graphics processor of one submission's machine, in the driver's order from 1.
create table gpu as
select
  submission,
  generate_subscripts(document.machine.gpus, 1) as position,
  unnest(document.machine.gpus, max_depth := 2)
from submission_document
order by submission, position;
