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
comment on column gpu.position is '{"label": "Position", "unit": "rank", "direction": "none"}';
comment on column gpu.vram_mib is '{"label": "Video memory", "unit": "MiB", "direction": "none"}';
comment on column gpu.pcie_generation is '{"label": "PCI Express generation", "unit": "generation", "direction": "none"}';
comment on column gpu.pcie_width is '{"label": "PCI Express lanes", "unit": "lanes", "direction": "none"}';
comment on column gpu.power_limit_w is '{"label": "Power limit", "unit": "W", "direction": "none"}';
comment on column gpu.default_power_limit_w is '{"label": "Power limit as shipped", "unit": "W", "direction": "none"}';
