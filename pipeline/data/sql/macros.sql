-- Words that several queries share, most of them from the tables of the vocabulary.

create macro size_order(parameters) as (
  select min(position) from vocabulary_size
  where if(parameters is null, unknown, not unknown and coalesce(parameters < below, true))
);

create macro size_class(parameters) as (
  select label from vocabulary_size where position = size_order(parameters)
);

-- 7000000000 is "7B", 134515008 is "135M".
create macro parameters_label(parameters) as
  case
    when parameters >= 1e9 then format('{:.3g}B', parameters / 1e9)
    when parameters >= 1e6 then format('{:.3g}M', parameters / 1e6)
    else parameters::varchar
  end;

-- The words of a command as a shell reads them: only a value after `=` can hold a blank.
create macro shell_text(words) as
  nullif(array_to_string([regexp_replace(word, '=(.*)$', '=''\1''') for word in words], ' '), '');

-- Does an interval lie clear of 1? As `estimates.verdicts.judge`: beyond the least that anyone
-- would notice, and beyond a share of the interval's own half-width, both as logarithms.
create macro clearly_above(low, high) as low > greatest(
  (select helps_above from vocabulary_bound),
  (high / low) ** ((select clear_of_one from vocabulary_bound) / 2)
);
create macro clearly_below(low, high) as high < least(
  (select hurts_below from vocabulary_bound),
  (low / high) ** ((select clear_of_one from vocabulary_bound) / 2)
);

-- The verdict of the intervals of the speedup per token and of the stated request.
create macro verdict_of(interval_low, interval_high, request_low, request_high) as
  case
    when interval_low is null or interval_high is null then 'too-few-prompts'
    when clearly_below(interval_low, interval_high) then 'hurts'
    when not clearly_above(interval_low, interval_high) then 'no-clear-difference'
    when clearly_below(request_low, request_high) then 'slower-in-all'
    else 'helps'
  end;

-- A verdict with a sign: all others claim nothing.
create macro is_signed(verdict) as verdict in ('helps', 'hurts', 'slower-in-all');
create macro loses(verdict) as verdict in ('hurts', 'slower-in-all');

-- What is printed of a verdict: its sign is filled where several contributors confirm it.
create macro mark_of(verdict, confirmed) as
  if(confirmed and verdict in ('helps', 'hurts'), verdict || '-confirmed', verdict);

-- The file that says how a contributor stands.
create macro contributor_entry(contributor) as 'contributor--' || lower(contributor) || '.json';

-- Does the evidence support a verdict at all?
create macro has_verdict(verdict) as
  verdict in ('helps', 'hurts', 'no-clear-difference', 'slower-in-all');

-- How much a piece of evidence may say: none under a serious flag, little without a verdict.
create macro trust_in(verdict, doubt) as case
  when has_verdict(verdict) then 2
  when coalesce(doubt, 'single-pass') in (
    'few-prompts', 'single-pass', 'few-prompts-fire', 'one-prompt-decides'
  ) then 1
  else 0
end;

-- The bound towards 1 of the best of several figures: the chance that one of them is high by luck
-- grows with their number, so the bound of the one that was chosen lies further away
-- (`choice_factor`).
create macro chosen_low(speedup, interval_low, factor) as
  least(interval_low, speedup * (interval_low / speedup) ** factor);

-- The same of the worst of several.
create macro chosen_high(speedup, interval_high, factor) as
  greatest(interval_high, speedup * (interval_high / speedup) ** factor);

create macro verdict_label(verdict) as (
  select word from vocabulary_verdict where id = verdict
);

-- Null for what does not speculate.
create macro speculation_label(method) as (
  select label from vocabulary_method where id = method and drafts
);

-- A method that drafts in every round costs the same on every task; one that drafts only where the
-- text repeats itself does not.
create macro drafts_always(method) as (
  select every_round from vocabulary_method where id = method
);

-- What a step of one token reads of a model; of a mixture of experts a share.
create macro step_bytes(file_bytes, parameters, active_parameters) as
  round(file_bytes * coalesce(active_parameters / parameters, 1))::bigint;

create macro task_label(task) as (
  select label from vocabulary_task where id = task
);

create macro task_order(task) as (
  select position from vocabulary_task where id = task
);

-- The engine's part of an address: most results come from one engine, whose addresses stay short.
create macro other_engine(words) as nullif(
  words, (select vocabulary_runner.engine_label from vocabulary_runner where usual)
);

-- By level and method, how many times as wide intervals must be so that 95 % of the predictions for
-- a contributor whom nobody has seen fall into them: split conformal prediction (Vovk, Gammerman
-- and Shafer 2005) over contributors, each with the same weight however many predictions it has
-- (Dunn, Wasserman and Ramdas 2022), with the correction for their finite number, up to 99 %.
-- `scores` names a table of predictions with fold, voter, level, method and score, the distance
-- over the half-width. `left_out` is null, or a fold of voters who were not looked at. Scores are
-- counted in steps of 1 %; no widening is below `least_wide`.
-- A method of few voters takes the wider of its own and that of all; below ten in all there is
-- nothing to learn from.
create macro widenings(scores, least_wide, more) as table (
  with steps as (
    select
      fold,
      voter,
      level,
      method,
      ceil(100 * ln(greatest(score, 0.01)))::bigint as step,
      count(*) as predictions
    from query_table(scores)
    where score is not null
    group by all
  ),
  listed as (
    from steps
    union all
    select fold, voter, level, null, step, sum(predictions) from steps group by all
  ),
  whole as (
    select voter, level, method, sum(predictions) as predictions from listed group by all
  ),
  weighted as (
    select listed.fold, level, listed.method, step, listed.predictions / whole.predictions as weight
    from listed
    join whole using (voter, level)
    where whole.method is not distinct from listed.method
  ),
  counted as (
    select fold, level, method, step, sum(weight) as weight
    from weighted
    group by fold, level, method, step
  ),
  folds as (
    select distinct fold as left_out from counted
    union all
    select null
  ),
  others as (
    select left_out, level, method, step, sum(weight) as weight
    from folds
    join counted on counted.fold is distinct from folds.left_out
    group by left_out, level, method, step
  ),
  ranked as (
    select
      *,
      sum(weight) over (partition by left_out, level, method) as voters,
      sum(weight) over (partition by left_out, level, method order by step) as so_far
    from others
  ),
  needed as (
    select
      left_out,
      level,
      method,
      round(any_value(voters)) as voters,
      exp(
        min(step) filter (so_far + 1e-6 >= least(0.99 * voters, 0.95 * (voters + more))) / 100
      ) as widening
    from ranked
    group by left_out, level, method
  )
  select
    own.left_out,
    own.level,
    own.method,
    case
      when own.voters >= 10 then greatest(least_wide, own.widening)
      when every.voters >= 10 then greatest(least_wide, own.widening, every.widening)
      else 1.0
    end::double as widening
  from needed as own
  join needed as every
    on every.method is null
    and every.level = own.level
    and every.left_out is not distinct from own.left_out
  where own.method is not null
  order by own.level, own.method, own.left_out nulls first
);

-- The one name of a model, however it is written.
create macro model_name(written) as coalesce(
  (
    select label from vocabulary_alias
    where id = regexp_replace(lower(written), '[\s_]+', '-', 'g')
  ),
  written
);

-- A name of a published figure as a part of an address.
create or replace macro slug_of(name) as
  trim(regexp_replace(lower(replace(name, '×', 'x')), '[^a-z0-9]+', '-', 'g'), '-');

-- How many standard errors an interval reaches either way, by degrees of freedom.
create macro t_reach(degrees) as (
  select quantile from input_t_quantile where freedom = degrees
);

-- What is at a position of a list, counted from 1, interpolated: 2.4 is between the second and
-- third.
create macro interpolated(ordered, position) as
  ordered[floor(position)::bigint]
    + (position - floor(position))
    * (ordered[floor(position)::bigint + 1] - ordered[floor(position)::bigint]);

-- The variance of the median of so many values in that of one: that of their mean up to two, then
-- up to pi / 2 of it.
create macro median_variance(count) as if(count > 2, pi() / 2, 1) / count;

-- "core 2" is the second version of a suite; the first has no label.
create macro suite_version(suite_label) as
  coalesce(try_cast(regexp_extract(suite_label, '([0-9]+)$', 1) as bigint), 1);
