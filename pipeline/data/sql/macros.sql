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

create macro verdict_of(interval_low, interval_high) as
  case
    when interval_low is null or interval_high is null then 'too-few-prompts'
    when interval_low > (select helps_above from vocabulary_bound) then 'helps'
    when interval_high < (select hurts_below from vocabulary_bound) then 'hurts'
    else 'no-clear-difference'
  end;

-- What is printed of a verdict: its sign is filled where several contributors confirm it.
create macro mark_of(verdict, confirmed) as
  if(confirmed and verdict in ('helps', 'hurts'), verdict || '-confirmed', verdict);

-- The file that says how a contributor stands.
create macro contributor_entry(contributor) as 'contributor--' || lower(contributor) || '.json';

-- Does the evidence support a verdict at all?
create macro is_firm(verdict) as verdict in ('helps', 'hurts', 'no-clear-difference');

-- How much a piece of evidence may say: none under a serious flag, little without a verdict.
create macro trust_in(verdict, doubt) as case
  when is_firm(verdict) then 2
  when coalesce(doubt, 'single-pass') in ('few-prompts', 'single-pass') then 1
  else 0
end;

-- The lower bound of the best of several figures: the chance that one of them is high by luck grows
-- with their number, so the bound of the one that was chosen lies further below it.
create macro chosen_low(speedup, interval_low, choices) as least(
  interval_low,
  speedup * (interval_low / speedup) ** (
    select factor from choice_factor where choice_factor.choices = least(choices, 1000)
  )
);

-- The same for the upper bound of the worst of several.
create macro chosen_high(speedup, interval_high, choices) as greatest(
  interval_high,
  speedup * (interval_high / speedup) ** (
    select factor from choice_factor where choice_factor.choices = least(choices, 1000)
  )
);

create macro chosen_verdict(verdict, speedup, interval_low, interval_high, choices) as if(
  is_firm(verdict),
  verdict_of(chosen_low(speedup, interval_low, choices), interval_high),
  verdict
);

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

create macro interval_label(interval_kind) as
  case interval_kind
    when 'one-contributor' then 'one contributor, widened'
    when 't' then 'over contributors (t)'
    when 'order' then 'over contributors (order statistics)'
  end;

-- The engine's part of an address: most results come from one engine, whose addresses stay short.
create macro other_engine(words) as nullif(
  words, (select vocabulary_runner.engine_label from vocabulary_runner where usual)
);
