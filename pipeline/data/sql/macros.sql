-- Words that several queries share: slugs, short device names, size classes, verdicts.

-- A slug is fit for an address; a name without a Latin letter or digit gets one from its digest.
create macro slug(words) as
  coalesce(
    nullif(trim(regexp_replace(lower(strip_accents(words)), '[^a-z0-9]+', '-', 'g'), '-'), ''),
    'unnamed-' || md5(words)[:8]
  );

create macro without_boilerplate(words) as
  trim(regexp_replace(regexp_replace(regexp_replace(words,
    '\((R|TM|C)\)|®|™', '', 'gi'),
    '\b(NVIDIA|GeForce|AMD|Intel|Graphics|GPU|CPU|Processor|[0-9]+-Core)\b|\bw(ith|/) Radeon.*$',
    '', 'g'),
    '\s+', ' ', 'g'));

-- Marketing names without vendor boilerplate: "NVIDIA GeForce RTX 4060" is "RTX 4060". The clock
-- goes too, unless it is all that tells one "Xeon" from another.
create macro short_name(words) as
  if(
    regexp_matches(without_boilerplate(regexp_replace(words, '@.*$', '')), '[0-9]'),
    without_boilerplate(regexp_replace(words, '@.*$', '')),
    without_boilerplate(regexp_replace(words, '@', '', 'g'))
  );

-- Who made a chip, by its marketing name: for processors, and graphics cards that do not say.
create macro vendor_of(words) as
  case
    when regexp_matches(words, 'nvidia|geforce|quadro|tesla', 'i') then 'nvidia'
    when regexp_matches(words, 'amd|radeon|ryzen|epyc', 'i') then 'amd'
    when regexp_matches(words, 'intel', 'i') then 'intel'
    when regexp_matches(words, 'apple', 'i') then 'apple'
    when regexp_matches(words, 'qualcomm|snapdragon|adreno', 'i') then 'qualcomm'
    else 'other'
  end;

create macro size_class(parameters) as
  case
    when parameters is null then 'unknown size'
    when parameters < 1e9 then '<1B'
    when parameters < 3e9 then '1–3B'
    when parameters < 8e9 then '3–8B'
    when parameters < 16e9 then '8–16B'
    when parameters < 40e9 then '16–40B'
    else '>40B'
  end;

create macro size_order(parameters) as
  case
    when parameters is null then 6
    when parameters < 1e9 then 0
    when parameters < 3e9 then 1
    when parameters < 8e9 then 2
    when parameters < 16e9 then 3
    when parameters < 40e9 then 4
    else 5
  end;

-- 7000000000 is "7B", 134515008 is "135M".
create macro parameters_label(parameters) as
  case
    when parameters >= 1e9 then format('{:.3g}B', parameters / 1e9)
    when parameters >= 1e6 then format('{:.3g}M', parameters / 1e6)
    else parameters::varchar
  end;

-- The bounds of what counts as a difference: 2 % either way.
create macro verdict_of(interval_low, interval_high) as
  case
    when interval_low is null or interval_high is null then 'too-few-prompts'
    when interval_low > 1.02::double then 'helps'
    when interval_high < 0.98::double then 'hurts'
    else 'no-clear-difference'
  end;

create macro method_label(method) as
  case method
    when 'draft-model' then 'Draft model'
    when 'prompt-lookup' then 'Prompt lookup'
    when 'suffix' then 'Suffix'
    when 'mtp' then 'MTP'
    when 'eagle3' then 'EAGLE-3'
    when 'dflash' then 'DFlash'
    when 'dspark' then 'DSpark'
    when 'oracle' then 'Oracle'
    when 'empty-draft' then 'Empty draft'
    when 'none' then 'No speculation'
    when 'other' then 'Other'
    else regexp_replace(method, '^ngram-', 'N-gram ')
  end;

-- The words that pages use for a task; `TASKS` of the pages says the same, and a test compares them.
create macro task_label(task) as
  case task
    when 'all' then 'All tasks'
    when 'json' then 'Structured JSON'
    when 'creative' then 'Creative writing'
    else upper(task[1]) || task[2:]
  end;

create macro verdict_label(verdict) as replace(verdict, '-', ' ');

create macro interval_label(interval_kind) as
  case interval_kind
    when 'within' then 'within one submission'
    when 't' then 'over submissions (t)'
    when 'bca' then 'over submissions (bootstrap)'
  end;

-- Two runners of one engine draft and count differently, so they are told apart by name.
create macro engine_label(runner, engine_name) as
  case runner
    when 'llama-cpp-python' then 'llama.cpp in-process'
    when 'llama-server' then 'llama.cpp server'
    else engine_name
  end;

-- The engine's part of an address: most results come from one engine, whose addresses stay short.
create macro other_engine(engine_label) as nullif(engine_label, 'llama.cpp in-process');

-- A method that drafts in every round costs the same on every task; one that drafts only where the
-- text repeats itself does not.
create macro drafts_always(method) as
  method in ('draft-model', 'mtp', 'eagle3', 'dflash', 'dspark');

-- A name as one word of a command line: nothing in it means anything to a shell.
create macro command_word(words) as
  coalesce(nullif(trim(regexp_replace(words, '[^A-Za-z0-9._]+', '-', 'g'), '-'), ''), 'MODEL');
