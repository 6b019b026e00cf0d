-- One row is one snapshot of one submission's machine around the campaign.
create table environment as
with listed as (
  select
    submission,
    unnest(document.environment) as snapshot,
    generate_subscripts(document.environment, 1) as position
  from submission_document
)
select submission, position, snapshot.*
from listed
order by submission, position;
comment on column environment.load_1min is '{"label": "Load", "unit": "processes", "direction": "lower"}';
comment on column environment.steal_fraction is '{"label": "Steal time", "unit": "fraction", "direction": "lower"}';
comment on column environment.cpu_pressure is '{"label": "Processor pressure", "unit": "fraction", "direction": "lower"}';
comment on column environment.cpu_mhz is '{"label": "Processor clock", "unit": "MHz", "direction": "higher"}';
comment on column environment.gpu_clock_mhz is '{"label": "GPU clock", "unit": "MHz", "direction": "higher"}';
comment on column environment.gpu_temperature_c is '{"label": "GPU temperature", "unit": "°C", "direction": "lower"}';
comment on column environment.gpu_power_w is '{"label": "GPU power", "unit": "W", "direction": "lower"}';
comment on column environment.available_ram_mib is '{"label": "Available memory", "unit": "MiB", "direction": "higher"}';
