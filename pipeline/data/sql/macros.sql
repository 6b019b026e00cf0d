-- Macros that several queries share, most of which read the tables of the vocabulary.

create macro size_order(parameters) as (
  select min(position) from vocabulary_size
  where if(parameters is null, unknown, not unknown and coalesce(parameters < below, true))
);

create macro size_class(parameters) as (
  select label from vocabulary_size where position = size_order(parameters)
);

-- 7000000000 becomes "7B", 134515008 becomes "135M".
create macro parameters_label(parameters) as
  case
    when parameters >= 1e9 then format('{:.3g}B', parameters / 1e9)
    when parameters >= 1e6 then format('{:.3g}M', parameters / 1e6)
    else parameters::varchar
  end;

-- The words of a command as a line for a shell: only a value after `=` can contain a blank.
create macro shell_text(words) as
  nullif(array_to_string([regexp_replace(word, '=(.*)$', '=''\1''') for word in words], ' '), '');

-- Whether an interval is clear of 1, as in `estimates.verdicts.judge`: by more than the smallest
-- noticeable change, and by more than a share of its own half-width, both as logarithms.
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

-- A quantised cache is a setting of the target, as its weights are; rows of the map do not
-- compare long prompts or sampled answers.
create macro usual(conditions) as conditions is null or starts_with(conditions, 'KV ');

-- Whether a verdict has a sign; verdicts without a sign claim nothing.
create macro is_signed(verdict) as verdict in ('helps', 'hurts', 'slower-in-all');
create macro loses(verdict) as verdict in ('hurts', 'slower-in-all');

-- The printed form of a verdict: its sign is filled if several contributors confirm the verdict.
create macro mark_of(verdict, confirmed) as
  if(confirmed and verdict in ('helps', 'hurts'), verdict || '-confirmed', verdict);

-- The account that a result counts for; results without a name share one account.
create macro account_of(contributor) as coalesce(lower(contributor), 'anonymous');

-- The file with a contributor's status.
create macro contributor_entry(contributor) as 'contributor--' || lower(contributor) || '.json';

-- Whether the evidence supports a verdict at all.
create macro has_verdict(verdict) as
  verdict in ('helps', 'hurts', 'no-clear-difference', 'slower-in-all');

-- The weight of a piece of evidence: none under a serious flag, little without a verdict.
create macro trust_in(verdict, doubt) as case
  when has_verdict(verdict) then 2
  when coalesce(doubt, 'single-pass') in (
    'unconfirmed', 'few-prompts', 'single-pass', 'few-prompts-fire', 'one-prompt-decides'
  ) then 1
  else 0
end;

-- The bound towards 1 of the best of several figures. The more figures there are, the likelier it
-- is that one is high by luck, so the bound of the chosen figure is farther away
-- (`choice_factor`).
create macro chosen_low(speedup, interval_low, factor) as
  least(interval_low, speedup * (interval_low / speedup) ** factor);

create macro verdict_label(verdict) as (
  select word from vocabulary_verdict where id = verdict
);

-- The range of the figures of engine builds, as logarithms; null for a single build.
create macro build_difference(figures) as
  if(len(figures) > 1, (list_max(figures) - list_min(figures)) / sqrt(len(figures)), null);

-- Null for an arm that does not speculate.
create macro speculation_label(method) as (
  select label from vocabulary_method where id = method and drafts
);

-- A method that drafts in every round costs the same on every task; a method that drafts only
-- when the text repeats itself does not.
create macro drafts_always(method) as (
  select every_round from vocabulary_method where id = method
);

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

-- The canonical name of a model for any spelling.
create macro model_name(written) as coalesce(
  (
    select label from vocabulary_alias
    where id = regexp_replace(lower(written), '[\s_]+', '-', 'g')
  ),
  written
);

-- A published figure's name as a part of an address.
create or replace macro slug_of(name) as
  trim(regexp_replace(lower(replace(name, '×', 'x')), '[^a-z0-9]+', '-', 'g'), '-');

-- The median of logarithms. The middle one of an odd number of values stays as it is: 2.5, not
-- 2.4999999999999996.
create macro log_median(value) as
  if(count(value) % 2 = 1, median(value), exp(median(ln(value))));

-- The different known values in order; an empty list if none is known.
create macro known_values(value) as
  coalesce(list(distinct value order by value) filter (value is not null), []);

-- Several equal things: "3 × RTX 3090".
create macro times(number, name) as if(number = 1, name, number || ' × ' || name);

-- The half-width of an interval in standard errors, by degrees of freedom.
create macro t_reach(degrees) as (
  select quantile from input_t_quantile where freedom = degrees
);

-- The interpolated value at a position of a list, counted from 1: 2.4 is between second and
-- third.
create macro interpolated(ordered, position) as
  ordered[floor(position)::bigint]
    + (position - floor(position))
    * (ordered[floor(position)::bigint + 1] - ordered[floor(position)::bigint]);

-- The variance of a median of several values over the variance of one value: as for the mean up
-- to two values, then up to pi / 2 times as much.
create macro median_variance(count) as if(count > 2, pi() / 2, 1) / count;

-- "core 2" is the second version of a suite; the first version has no label.
create macro suite_version(suite_label) as
  coalesce(try_cast(regexp_extract(suite_label, '([0-9]+)$', 1) as bigint), 1);
