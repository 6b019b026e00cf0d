// Read a run from a pasted text: its requests with their times and drafts, rates and counts.
import { sum } from "./arithmetic.js";
import { joined, serverOf, statedIn } from "./forms.js";

const LONGEST = 4_000_000; // characters: the log of a day; a longer text would freeze the page
const MS = 1000;
const whole = (value) => (Number.isInteger(value) && value >= 0 ? value : null);
const mean = (values) => (values.length ? sum(values) / values.length : null);
const known = (values) => values.filter((value) => value !== null);
const middleOf = (values) => {
  const sorted = values.filter((value) => value > 0).sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return mean(sorted.slice(Math.floor(middle), Math.ceil(middle) + 1));
};

// The number of tasks that ran at the same time: their lines are mixed, or their times overlap.
const overlapping = (lines, requests, table) => {
  const spans = new Map();
  const [times, ends] = [[], []];
  let task = null;
  lines.forEach((line, at) => {
    const slot = line.match(table.line.slot);
    const clock = line.match(table.line.clock);
    if (slot) {
      task = `${serverOf(line, table)} ${slot.groups.task}`;
      spans.set(task, [spans.get(task)?.[0] ?? at, at]);
    }
    if (clock && task !== null)
      ends[task] = clock.groups.minutes * 60 * MS + clock.groups.seconds * MS;
  });
  const order = [...spans.keys()];
  // The requests are in the order of their tasks, if each task has its times.
  if (requests.length === order.length)
    requests.forEach(({ promptMs, ms }, at) => {
      const end = ends[order[at]];
      if (end !== undefined && ms !== null) times.push([end - ms - (promptMs ?? 0), end]);
    });
  const most = (all, slack) =>
    Math.max(
      1,
      ...all.map(([start]) => all.filter(([a, b]) => a <= start && start < b - slack).length),
    );
  return Math.max(most([...spans.values()], 0), most(times, 50));
};

// ---- requests ------------------------------------------------------------------------------------
const requestOf = ({ number }) => {
  const [tokens, took, prompt] = ["tokens", "took_ms", "prompt_tokens"].map(number);
  const [accepted, rejected, promptRate] = ["accepted", "rejected", "prompt_rate"].map(number);
  const both = accepted === null || rejected === null ? null : accepted + rejected;
  return {
    promptTokens: prompt === null ? null : prompt + (number("cached") ?? 0),
    promptMs: number("prompt_ms") ?? (prompt && promptRate ? (prompt / promptRate) * MS : null),
    tokens: whole(tokens),
    ms: number("ms"),
    perSecond: number("rate") ?? (took ? (tokens / took) * MS : null),
    drafted: number("drafted") ?? both,
    accepted,
  };
};
// The requests whose prompt shrank to a few tokens: the prompt comes from the cache, and the
// same answer was given before.
const repeatsIn = (requests, table) => {
  let longest = 0;
  return requests.map((each) => {
    const tokens = each.number("prompt_tokens");
    const earlier = Math.max(longest, each.number("cached") ?? 0);
    longest = Math.max(longest, tokens ?? 0);
    return (
      tokens !== null && table.cached.some(([most, by]) => tokens <= most && tokens * by <= earlier)
    );
  });
};
const requestsIn = (found, table) => {
  const own = found.filter((each) => each.form.gives === "request" && each.number("tokens"));
  const repeats = repeatsIn(own, table);
  return own.map((each, at) => ({
    ...requestOf(each),
    repeat: repeats[at],
    silent: each.form.silent ?? false,
  }));
};

// ---- counts of drafts beside the requests: of the best source there is ---------------------------
const COUNTS = ["rounds", "drafted", "accepted", "emitted"];
const countsOf = (each) => {
  const found = Object.fromEntries(COUNTS.map((name) => [name, each.number(name)]));
  const [length, depth] = [each.number("length"), each.number("depth")];
  const { positions } = each.figures;
  const width = depth ?? (positions ? positions.split(",").length : null);
  if (found.rounds === null && found.accepted && length > 1)
    found.rounds = found.accepted / (length - 1);
  else if (found.rounds === null && found.drafted !== null && width)
    found.rounds = found.drafted / width;
  return found;
};
const total = (rows) =>
  Object.fromEntries(
    COUNTS.map((name) => {
      const values = known(rows.map((row) => row[name]));
      return [name, values.length ? Math.round(sum(values)) : null];
    }),
  );
// A metrics page: of two readings, the difference between them; one line for each engine and
// rank.
const bySeries = (rows) => {
  const series = new Map();
  for (const row of rows) {
    const key = `${row.server} ${row.figures.series ?? ""}`;
    series.set(key, [...(series.get(key) ?? []), countsOf(row)]);
  }
  const since = (first, last, name) =>
    last[name] === null ? null : last[name] - (first[name] ?? 0);
  return [...series.values()].map((values) => {
    const first = values.length > 1 ? values[0] : {};
    return Object.fromEntries(COUNTS.map((name) => [name, since(first, values.at(-1), name)]));
  });
};
const lastOf = (rows) => [...new Map(rows.map((row) => [row.server, countsOf(row)])).values()];
const eachOf = (rows) => rows.map(countsOf);
const SOURCES = { series: bySeries, run: eachOf, total: lastOf, interval: eachOf };
const REFUSED =
  "The counts are impossible: fewer than zero tokens were drafted, or more were accepted than " +
  "drafted. Paste two readings of a metrics page in the order of their times.";
const counters = (found) => {
  for (const [gives, of] of Object.entries(SOURCES)) {
    const rows = found.filter(({ form }) => form.gives === gives);
    const counts = rows.length ? total(of(rows)) : null;
    if (counts && counts.accepted !== null && (counts.drafted !== null || counts.rounds !== null))
      return { gives, counts };
  }
  return { gives: null, counts: null };
};
const impossible = ({ drafted, accepted, rounds = null }) =>
  [drafted, accepted, rounds].some((value) => value !== null && value < 0) ||
  (drafted !== null && accepted !== null && accepted > drafted);

// Sums of llama-server for each kind of draft; the sums of several servers are added.
const statisticsOf = (found) => {
  const rows = found.filter(({ form }) => form.gives === "statistics");
  const last = new Map(rows.map((row) => [`${row.server} ${row.figures.kind}`, row]));
  return [...new Set(rows.map(({ figures }) => figures.kind))].map((kind) => {
    const own = [...last.values()].filter(({ figures }) => figures.kind === kind);
    const names = ["calls", "drafts", "tokens", "accepted", "draft_ms"];
    const values = names.map((name) => [name, own.map(({ number }) => number(name))]);
    const sums = values.map(([name, all]) => [name, all.includes(null) ? null : sum(all)]);
    return { kind, ...Object.fromEntries(sums) };
  });
};

// ---- all that a text says -------------------------------------------------------------------------
const rateOf = (each) => {
  const tpot = each.number("tpot_ms");
  return tpot ? MS / tpot : (each.number("rate") ?? each.number("throughput"));
};
// Forms without a use: another form counts the same tokens, or figures are missing.
const unusedIn = (found, requests, gives) => {
  const own = requests.some(({ accepted }) => accepted !== null);
  const used = ({ form, number }) => {
    if (form.gives === "statistics") return true;
    if (form.gives === "request") return number("tokens") || (!requests.length && number("rate"));
    return (
      (!requests.length && rateOf({ number }) !== null) ||
      (!own && (form.gives === gives || (gives === null && number("length") !== null)))
    );
  };
  return [...new Set(found.filter((each) => !used(each)).map(({ form }) => form.of))];
};
// Whether the figures of a text are impossible.
const isImpossible = (found, table) => {
  const { counts } = counters(found);
  return (
    (counts !== null && impossible(counts)) ||
    requestsIn(found, table).some(impossible) ||
    found.some((each) => each.number("share") > 1)
  );
};

export const read = (pasted, table) => {
  const text = joined(pasted.slice(0, LONGEST));
  const stated = statedIn(text, table);
  const lines = stated.json ? [] : text.split(/\r\n|\n|\r/);
  const first = (name) => lines.map((line) => line.match(table.line[name])).find(Boolean)?.groups;
  const both = (names, groups) =>
    groups ? Object.fromEntries(names.map((name) => [name, Number(groups[name])])) : null;
  const refused = isImpossible(stated.found, table);
  const found = refused ? [] : stated.found;
  const requests = requestsIn(found, table);
  const { gives, counts } = counters(found);
  const all = (name) => known(found.map((each) => each.number(name)));
  return {
    requests,
    statistics: statisticsOf(found),
    layers: both(["on", "all"], first("layers")), // the target's line comes first
    power: both(["drawn", "limit"], first("power")),
    atOnce: Math.max(overlapping(lines, requests, table), ...all("at_once")),
    rate: requests.length ? null : middleOf(known(found.map(rateOf))),
    mismatch: first("mismatch")?.words ?? null,
    counters: counts,
    stated: { length: mean(all("length")), share: mean(all("share")) },
    engine: [...new Set(found.map(({ form }) => form.engine))].filter(Boolean),
    unused: unusedIn(found, requests, gives),
    unread: stated.unread.map(({ number, form }) => [number, form.of]),
    models: [...stated.models],
    refused: refused ? REFUSED : null,
  };
};
