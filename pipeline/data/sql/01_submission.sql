-- One row is one accepted submission: a campaign on one rig with one target model.
create table submission as
select
  submission,
  file,
  preview,
  document.tier,
  document.profile,
  document.measured_from,
  document.measured_until,
  document.contributor,
  document.notes,
  document.supersedes,
  document.licence,
  document.tool.name as tool_name,
  document.tool.version as tool_version,
  document.tool.commit as tool_commit,
  document.origin.format as origin_format,
  document.origin.source as origin_source,
  document.origin.licence as origin_licence,
  document.machine.os.family as os_family,
  document.machine.os.version as os_version,
  document.machine.cpu.name as cpu_name,
  document.machine.cpu.architecture as cpu_architecture,
  document.machine.cpu.physical_cores as cpu_physical_cores,
  document.machine.cpu.logical_cores as cpu_logical_cores,
  document.machine.ram_mib,
  document.machine.ram_type,
  document.machine.ram_mts,
  document.machine.ram_channels,
  document.machine.virtual_machine,
  document.machine.on_battery,
  document.machine.desktop_on_gpu,
  document.engine.runner,
  document.engine.name as engine_name,
  document.engine.version as engine_version,
  document.engine.package_version,
  document.engine.commit as engine_commit,
  document.engine.build_number,
  document.engine.backend,
  document.engine.system_info,
  document.target.id as target_id,
  document.target.name as target_name,
  document.target.family as target_family,
  document.target.parameters,
  document.target.active_parameters,
  document.target.architecture,
  document.target.quantisation,
  document.target.file_bytes,
  document.target.sha256 as target_sha256,
  document.target.repository,
  document.target.derivation,
  document.target.layers,
  document.target.vocabulary_size,
  document.settings.context_tokens,
  document.settings.kv_type_k,
  document.settings.kv_type_v,
  document.settings.flash_attention,
  document.settings.batch_tokens,
  document.settings.micro_batch_tokens,
  document.settings.threads,
  document.settings.threads_batch,
  document.settings.max_output_tokens,
  document.settings.sampling,
  document.settings.thinking,
  document.settings.teacher_forced,
  document.design.blocks,
  1 + list_max(list_transform(document.trials, lambda trial: trial.block)) as blocks_done,
  document.design.precision,
  document.design.budget_s,
  document.design.order as design_order,
  document.design.planned_trials,
  document.design.ended,
  document.design.resumed,
  document.suite.id as suite,
  document.suite.version as suite_version,
  document.suite.sha256 as suite_sha256
from submission_document
order by submission;
comment on column submission.ram_mib is '{"label": "Main memory", "unit": "MiB", "direction": "none"}';
comment on column submission.cpu_physical_cores is '{"label": "Physical cores", "unit": "cores", "direction": "none"}';
comment on column submission.cpu_logical_cores is '{"label": "Logical cores", "unit": "cores", "direction": "none"}';
comment on column submission.ram_mts is '{"label": "Memory transfer rate", "unit": "MT/s", "direction": "none"}';
comment on column submission.ram_channels is '{"label": "Memory channels", "unit": "channels", "direction": "none"}';
comment on column submission.build_number is '{"label": "Engine build", "unit": "number", "direction": "none"}';
comment on column submission.parameters is '{"label": "Parameters", "unit": "parameters", "direction": "none"}';
comment on column submission.active_parameters is '{"label": "Active parameters", "unit": "parameters", "direction": "none"}';
comment on column submission.file_bytes is '{"label": "Weights on disk", "unit": "bytes", "direction": "lower"}';
comment on column submission.layers is '{"label": "Layers", "unit": "layers", "direction": "none"}';
comment on column submission.vocabulary_size is '{"label": "Vocabulary", "unit": "tokens", "direction": "none"}';
comment on column submission.context_tokens is '{"label": "Context", "unit": "tokens", "direction": "none"}';
comment on column submission.batch_tokens is '{"label": "Batch", "unit": "tokens", "direction": "none"}';
comment on column submission.micro_batch_tokens is '{"label": "Micro-batch", "unit": "tokens", "direction": "none"}';
comment on column submission.threads is '{"label": "Threads", "unit": "threads", "direction": "none"}';
comment on column submission.threads_batch is '{"label": "Threads for batches", "unit": "threads", "direction": "none"}';
comment on column submission.max_output_tokens is '{"label": "Longest output", "unit": "tokens", "direction": "none"}';
comment on column submission.blocks is '{"label": "Planned blocks", "unit": "blocks", "direction": "higher"}';
comment on column submission.blocks_done is '{"label": "Blocks", "unit": "blocks", "direction": "higher"}';
comment on column submission.precision is '{"label": "Precision that ends the campaign", "unit": "fraction", "direction": "none"}';
comment on column submission.budget_s is '{"label": "Time budget", "unit": "s", "direction": "none"}';
comment on column submission.planned_trials is '{"label": "Planned trials", "unit": "trials", "direction": "none"}';
comment on column submission.resumed is '{"label": "Times resumed", "unit": "times", "direction": "lower"}';
