-- One row is one cell of a series that was measured with several numbers of requests in flight.
-- `series` names the cell without its concurrency and its task. `total_speedup` is the newest
-- submission's gain over whole passes, on all of its tasks together.
create table concurrency_view as
with listed as (
  select
    explore.* replace (series || '-' || tier as series),
    concat_ws(' · ', device_label, backend, engine_label, target_label || ' ' || quantisation,
      suite_label, conditions) as place_label,
    concat_ws(' · ', method_label, 'depth ' || depth, draft_label) as arm_label
  from explore
),
measured as (
  select
    throughput.submission,
    arm.method,
    arm.depth,
    setting.draft_label,
    throughput.concurrency,
    any_value(throughput.stream_tps order by arm.position) as stream_tps,
    any_value(throughput.total_tps order by arm.position) as total_tps,
    any_value(throughput.total_speedup order by arm.position) as total_speedup,
    any_value(throughput.total_low order by arm.position) as total_low,
    any_value(throughput.total_high order by arm.position) as total_high
  from throughput
  join arm using (submission, arm)
  join setting using (submission, arm)
  group by all
)
select
  listed.* exclude (tps, baseline_tps),
  measured.stream_tps,
  measured.total_tps,
  measured.total_speedup,
  measured.total_low,
  measured.total_high
from listed
left join measured
  on measured.submission = listed.submission and measured.method = listed.method
  and measured.depth is not distinct from listed.depth
  and measured.draft_label is not distinct from listed.draft_label
  and measured.concurrency = listed.concurrency
qualify count(distinct listed.concurrency) over (partition by series, task) > 1
order by series, task = 'all' desc, task, listed.concurrency;
