-- One row is the memory of a target alone that was entirely in one memory: the GPU's memory
-- or, on a processor, the engine's process memory.
with used as (
  select submission, target_gpu_layers_resident, unnest(peak_memory) as memory
  from arm
  where role = 'baseline' and coalesce(concurrency, 1) = 1
)
select
  submission,
  target_label,
  setup.quantisation,
  file_bytes,
  context_tokens,
  kv_type_k,
  kv_type_v,
  micro_batch_tokens,
  setup.backend = 'cpu' as on_cpu,
  max(memory.peak_mib) as measured_mib
from used
join submission using (submission)
join setup using (submission)
where counted and setup.tier = 'measured' and context_tokens is not null
  and (memory.device = 'CPU') = (setup.backend = 'cpu')
  and (setup.backend = 'cpu' or target_gpu_layers_resident > layers)
group by all
having count(*) = 1
order by submission;
