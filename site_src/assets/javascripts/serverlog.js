// What servers print and answer: requests with their times and drafts, read from pasted text.
// `requestsOf` gives what `requests_of` of harness/imports/llama_server.py gives; a test reads the
// same captures with both. The patterns come with the page, from
// schemas/vocabulary/server_log.toml.
"use strict";

const LONGEST = 4_000_000; // characters: a log of a day; more would only stop the page

// Python names a group `(?P<name>…)`.
export const compiled = (patterns) =>
  Object.fromEntries(
    Object.entries(patterns).map(([name, pattern]) => [
      name,
      new RegExp(pattern.replaceAll("(?P<", "(?<")),
    ]),
  );

const figure = (value) =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
const whole = (value) => (Number.isInteger(value) && value >= 0 ? value : null);
const numbers = (groups) =>
  Object.fromEntries(
    Object.entries(groups).map(([name, text]) => [
      name,
      text === undefined ? null : Number.isFinite(Number(text)) ? Number(text) : text,
    ]),
  );

// What llama-speculative prints: its time begins before the first token, one step more.
const speculated = (lines, known) => {
  const found = [];
  let prompt = null;
  for (const line of lines) {
    const match = (name) => line.match(known[name]);
    let hit;
    if ((hit = match("encoded"))) prompt = numbers(hit.groups);
    else if ((hit = match("decoded"))) {
      const { tokens, seconds } = numbers(hit.groups);
      found.push({
        promptTokens: prompt && prompt.tokens,
        promptMs: prompt && prompt.seconds * 1000,
        tokens: tokens + 1,
        ms: seconds * 1000,
        perSecond: null,
        drafted: null,
        accepted: null,
      });
      prompt = null;
    } else if (found.length && (hit = match("sums")))
      found.at(-1)[hit.groups.name === "accept" ? "accepted" : "drafted"] = Number(
        hit.groups.value,
      );
  }
  return found;
};

// ---- a log ------------------------------------------------------------------------------------
const logged = (lines, known) => {
  if (lines.some((line) => known.decoded.test(line))) return speculated(lines, known);
  // Lines of several slots may stand mixed.
  const [found, tasks, early] = [[], new Map(), new Map()];
  let task = "";
  const started = () => {
    tasks.set(task, { prompt: null, answer: null, drafts: early.get(task) ?? null });
    early.delete(task);
    found.push(tasks.get(task));
    return tasks.get(task);
  };
  for (const line of lines) {
    const match = (name) => line.match(known[name]);
    let hit;
    if ((hit = match("slot"))) [task] = hit;
    if ((hit = match("prompt"))) started().prompt = numbers(hit.groups);
    else if ((hit = match("answer"))) (tasks.get(task) ?? started()).answer = numbers(hit.groups);
    else if ((hit = match("drafts"))) {
      const own = tasks.get(task);
      if (own && !own.drafts) own.drafts = numbers(hit.groups);
      else early.set(task, numbers(hit.groups)); // printed before the times of its request
    }
  }
  return found
    .filter(({ answer }) => answer)
    .map(({ prompt, answer, drafts }) => ({
      promptTokens: prompt && prompt.tokens,
      promptMs: prompt && prompt.ms,
      tokens: answer.tokens + (answer.runs && !answer.generation ? 1 : 0),
      ms: answer.ms,
      perSecond: answer.rate,
      drafted: drafts && drafts.drafted,
      accepted: drafts && drafts.accepted,
    }));
};

// ---- answers: one value, a list, one after the other; with `timings`, or the timings themselves
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\]]/g;
const objects = (text) => {
  const found = [];
  let [depth, start] = [0, 0];
  for (const { 0: sign, index } of text.matchAll(TOKENS)) {
    if ("{[".includes(sign) && depth++ === 0) start = index;
    else if ("}]".includes(sign) && depth && --depth === 0)
      found.push(text.slice(start, index + 1));
  }
  return found;
};
const tried = (text) => {
  try {
    return [JSON.parse(text)].flat();
  } catch {
    return null;
  }
};
const parsed = (text) => tried(text) ?? objects(text).flatMap((each) => tried(each) ?? []);

// Of a streamed answer the chunk that ends it or the one after it, which has the times.
const ENDS = /"finish_reason":\s*"|"stop":\s*true|"choices":\s*\[\s*\]/;
const joined = (text) => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours of a terminal begin with it
  const plain = text.replace(/\x1b\[[0-9;]*m/g, "");
  if (!plain.trimStart().startsWith("data:")) return plain;
  const ends = (line) => line !== undefined && line.includes('"timings"') && ENDS.test(line);
  const lines = plain.split("\n").filter((line) => line.trim());
  // One after a chunk with times repeats them.
  const chunks = lines.filter((line, number) => ends(line) && !ends(lines[number - 1]));
  return chunks.map((line) => line.trim().slice("data:".length)).join("\n");
};
const object = (value) =>
  value && typeof value === "object" && !Array.isArray(value) ? value : {};
// Answers that a script has listed, or saved next to their prompts.
const unpacked = (value) => {
  const { requests, timings } = object(value);
  if (Array.isArray(requests)) return requests;
  return [
    timings ? value : (Object.values(object(value)).find((each) => object(each).timings) ?? value),
  ];
};

const answered = (row) => {
  const timings = object(row.timings ?? (row.predicted_n === undefined ? null : row));
  const cached = whole(timings.cache_n) ?? 0;
  const prompt = whole(timings.prompt_n);
  return {
    promptTokens: prompt === null ? null : prompt + cached,
    promptMs: figure(timings.prompt_ms),
    tokens: whole(timings.predicted_n),
    ms: figure(timings.predicted_ms),
    perSecond: figure(timings.predicted_per_second),
    drafted: whole(timings.draft_n),
    accepted: whole(timings.draft_n_accepted),
  };
};

// vLLM (`--per-request-spec-decode-metrics`), SGLang under both of its names, LM Studio.
const COUNTERS = [
  [
    (row) => object(object(row.metrics).speculative_decoding),
    "num_spec_steps",
    "num_draft_tokens",
    "num_accepted_draft_tokens",
  ],
  [
    (row) => object(row.meta_info),
    "spec_verify_ct",
    "spec_num_proposed_drafts",
    "spec_num_correct_drafts",
  ],
  [
    (row) => object(row.meta_info),
    "spec_verify_ct",
    "spec_draft_token_num",
    "spec_accept_token_num",
  ],
  [(row) => object(row.stats), null, "total_draft_tokens_count", "accepted_draft_tokens_count"],
];
const countedBy = (row) => {
  for (const [part, rounds, drafted, accepted] of COUNTERS) {
    const found = {
      rounds: whole(part(row)[rounds]),
      drafted: whole(part(row)[drafted]),
      accepted: whole(part(row)[accepted]),
    };
    if (found.drafted !== null && found.accepted !== null && found.accepted <= found.drafted)
      return found;
  }
  return null;
};
const added = (a, b) => (a === null || b === null ? null : a + b);
const totals = (found) =>
  found.length
    ? found.reduce((a, b) => ({
        rounds: added(a.rounds, b.rounds),
        drafted: a.drafted + b.drafted,
        accepted: a.accepted + b.accepted,
      }))
    : null;

// ---- a metrics page: sums since the start; of two readings, what happened between them --------
const NAMES = { drafts: "rounds", draft_tokens: "drafted", accepted_tokens: "accepted" };
const scraped = (lines, known) => {
  const [first, last] = [{}, {}];
  for (const line of lines) {
    const hit = line.match(known.counter);
    if (!hit) continue;
    const name = NAMES[hit.groups.name];
    if (Object.hasOwn(last, name)) first[name] ??= last[name];
    last[name] = Number(hit.groups.value);
  }
  if (Object.keys(last).length < 3) return null;
  const since = (name) => last[name] - (first[name] ?? 0);
  return { rounds: since("rounds"), drafted: since("drafted"), accepted: since("accepted") };
};

// ---- logs that count by the second: windows of vLLM, and rates --------------------------------
const windowed = (windows) => {
  const found = windows.filter(({ length }) => length > 1);
  if (!found.length) return null;
  const total = (value) => found.reduce((sum, each) => sum + value(each), 0);
  return {
    rounds: Math.round(total(({ accepted, length }) => accepted / (length - 1))),
    drafted: total(({ drafted }) => drafted),
    accepted: total(({ accepted }) => accepted),
  };
};
const middleOf = (values) => {
  const sorted = values.filter((value) => value > 0).sort((a, b) => a - b);
  return sorted.length
    ? (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2
    : null;
};

const isJson = (text, known) =>
  // Else lines in JSON.
  known.json.test(text) && (text.includes('"predicted_n"') || !known.answer.test(text));
const all = (lines, pattern) =>
  lines
    .map((line) => line.match(pattern))
    .filter(Boolean)
    .map((hit) => numbers(hit.groups));

export const requestsOf = (pasted, known) => {
  const text = joined(pasted);
  return (
    isJson(text, known)
      ? parsed(text).flatMap(unpacked).map(object).map(answered)
      : logged(text.split(/\r\n|\n|\r/), known)
  ).filter((each) => each.tokens !== null);
};

export const read = (pasted, known) => {
  const text = joined(pasted.slice(0, LONGEST));
  const json = isJson(text, known);
  const lines = json ? [] : text.split(/\r\n|\n|\r/);
  const statistics = new Map(); // the last line of each kind has the sums
  for (const each of all(lines, known.statistics)) statistics.set(each.kind, each);
  const counted = json
    ? parsed(text).flatMap(unpacked).map(object).map(countedBy).filter(Boolean)
    : [];
  return {
    requests: requestsOf(text, known),
    statistics: [...statistics.values()],
    layers: all(lines, known.layers)[0] ?? null, // the target's line comes first
    slots: Math.max(
      new Set(all(lines, known.slot).map((each) => each.slot)).size,
      ...all(lines, known.running).map((each) => each.running ?? each.sglang),
    ),
    rate: middleOf(all(lines, known.rate).map((each) => each.rate)),
    mismatch: all(lines, known.mismatch)[0]?.words ?? null,
    counters: json
      ? totals(counted)
      : (scraped(lines, known) ?? windowed(all(lines, known.window))),
  };
};
