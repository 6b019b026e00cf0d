-- What do the raw files say, without a line of the pipeline? One row is one arm of one submission on
-- one task ('all' only where every task was measured): speedup, tokens per round and their ratio.
with raw as (
  select parse_filename(filename, true) as submission, arms, trials, suite.prompts as prompts
  from read_json($files, filename = true, maximum_object_size = 100000000, columns = {
    arms: 'struct(id varchar, baseline varchar)[]',
    suite: 'struct(prompts struct(id varchar, task varchar)[])',
    trials: 'struct(arm varchar, prompt varchar, block int, outcome varchar, output_tokens double,
      decode_ms double, rounds double, drafted_histogram double[], round_ms_median double[])[]'
  })
),
arm as (select submission, unnest(arms, recursive := true) from raw),
prompt as (select submission, unnest(prompts, recursive := true) from raw),
trial as (
  select submission, unnest(trials, recursive := true) from raw
),
timed as (
  select
    submission, arm, prompt, block, output_tokens - 1 as tokens, rounds,
    decode_ms / (output_tokens - 1) as decode_each,
    list_dot_product(list_filter(drafted_histogram, lambda n: n > 0), round_ms_median)
      / (output_tokens - 1) as rounds_each
  from trial
  where outcome = 'ok' and output_tokens > 1
),
paired as (
  select
    own.submission, own.arm, own.prompt, own.tokens, own.rounds,
    ln(plain.decode_each / own.decode_each) as decode_ratio,
    ln(plain.rounds_each / own.rounds_each) as rounds_ratio
  from timed as own
  join arm on arm.submission = own.submission and arm.id = own.arm
  join timed as plain
    on plain.submission = own.submission and plain.arm = arm.baseline
    and plain.prompt = own.prompt and plain.block = own.block
),
by_prompt as (
  select
    paired.submission, paired.arm, prompt.task,
    if(count(rounds_ratio) = count(*), median(rounds_ratio), median(decode_ratio)) as log_speedup,
    ln(sum(paired.tokens) / sum(paired.rounds)) as log_tokens
  from paired
  join prompt on prompt.submission = paired.submission and prompt.id = paired.prompt
  group by paired.submission, paired.arm, prompt.task, paired.prompt
),
by_task as (
  select submission, arm, task, avg(log_speedup) as log_speedup, avg(log_tokens) as log_tokens
  from by_prompt group by all
),
told as (
  from by_task
  union all
  select submission, arm, 'all', avg(log_speedup), avg(log_tokens)
  from by_task group by submission, arm having count(*) = 8
)
select submission, arm, task, exp(log_speedup) as speedup, exp(log_tokens) as tokens_per_round,
  exp(log_tokens - log_speedup) as round_cost
from told
order by submission, arm, task
