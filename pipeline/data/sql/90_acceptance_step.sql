-- One row is one backend and engine build of one setting with the same weights (`series`), over
-- all people: the greedy rounds on prompts that it and the compared build answered with the same
-- text. A build is compared with the previous build of its backend, the first build of a backend
-- with the build that most people measured. `acceptance_step` is an alarm: tokens per round changed
-- by more than anybody would notice (2 %), and by more than equal prompts differ within either
-- build (`repeatability`, which is 1 if all counters repeat exactly). Only counters are compared,
-- so no machine had to be idle.
create table acceptance_step as
with arms as (
  select
    concat_ws('|',
      setup.engine_label,
      coalesce(submission.target_sha256, setup.target || ' ' || setup.quantisation),
      setting.setting, draft.sha256, setup.conditions, submission.max_output_tokens) as series,
    setup.submission, arm.arm, account_of(setup.contributor) as account,
    setup.backend, setup.engine_build, setup.target, setup.target_label, setup.quantisation,
    method, arm.method_label, arm.depth, setting.draft_label, setup.measured_from
  from setup
  join submission using (submission)
  join arm using (submission)
  join setting using (submission, arm)
  left join draft on draft.submission = arm.submission and draft.draft = arm.draft
  where setup.counted and setup.tier = 'measured' and sampling = 'greedy'
    and setup.engine_build is not null
    and arm.role = 'speculation' and concurrency = 1
),
counts as (
  select
    arms.*,
    prompt.rendered_sha256 || output_sha256 as answer,
    output_tokens - 1 as tokens,
    coalesce(rounds, nullif(greatest(output_tokens - 1 - accepted, 0), 0)) as rounds,
    drafted,
    accepted
  from trial
  join arms using (submission, arm)
  join prompt using (submission, prompt)
  where output_tokens > 1
),
answers as (
  select
    series, backend, engine_build, answer,
    favg(tokens) as tokens, favg(rounds) as rounds,
    min(rounds) as least_rounds, max(rounds) as most_rounds,
    favg(drafted) as drafted, favg(accepted) as accepted
  from counts
  where answer is not null and rounds is not null
  group by series, backend, engine_build, answer
),
builds as (
  select
    series, backend, engine_build,
    count(distinct account) as people,
    min(measured_from) as measured_from,
    arg_min(submission, (measured_from, submission)) as submission,
    coalesce(try_cast(nullif(regexp_extract(engine_build, '[0-9]+$'), '') as bigint), 0)
      as build_number,
    any_value(
      columns([
        'target', 'target_label', 'quantisation', 'method', 'method_label', 'depth', 'draft_label'
      ])
      order by submission
    )
  from arms
  semi join trial
    on trial.submission = arms.submission and trial.arm = arms.arm and output_tokens > 1
  group by series, backend, engine_build
),
compared as (
  select
    *,
    count(*) over (partition by series) as builds,
    lag(engine_build) over in_time is null as is_first_build,
    coalesce(
      lag(struct_pack(backend, engine_build)) over in_time,
      first_value(struct_pack(backend, engine_build)) over (
        partition by series order by people desc, measured_from, backend, build_number, engine_build
      )
    ) as other
  from builds
  window in_time as (
    partition by series, backend order by build_number, measured_from, engine_build
  )
),
summed as (
  select
    compared.series, compared.backend, compared.engine_build,
    count(*) as prompts,
    fsum(own.tokens) / fsum(own.rounds) as tokens_per_round,
    fsum(reference.tokens) / fsum(reference.rounds) as compared_tokens_per_round,
    fsum(own.accepted) / nullif(fsum(own.drafted), 0) as acceptance_rate,
    fsum(reference.accepted) / nullif(fsum(reference.drafted), 0) as compared_acceptance_rate,
    greatest(
      fsum(own.most_rounds) / fsum(own.least_rounds),
      fsum(reference.most_rounds) / fsum(reference.least_rounds)
    ) as repeatability
  from compared
  join answers as own using (series, backend, engine_build)
  join answers as reference
    on reference.series = compared.series and reference.answer = own.answer
    and reference.backend = other.backend and reference.engine_build = other.engine_build
  where not is_first_build or other.backend <> compared.backend
  group by compared.series, compared.backend, compared.engine_build
)
select
  md5(compared.series)[:8] as series,
  compared.* exclude (series, other, build_number, builds, is_first_build),
  if(prompts is null, null, other.backend) as compared_backend,
  if(prompts is null, null, other.engine_build) as compared_with,
  summed.* exclude (series, backend, engine_build),
  tokens_per_round / compared_tokens_per_round as acceptance_change,
  case
    when prompts < 6 then null
    when acceptance_change > greatest(helps_above, repeatability) then 'more'
    when acceptance_change < 1 / greatest(helps_above, repeatability) then 'fewer'
  end as acceptance_step
from compared
cross join vocabulary_bound
left join summed using (series, backend, engine_build)
where builds > 1
order by series, backend, build_number, engine_build;
