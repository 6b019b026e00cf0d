// The figures of one run: its requests with their times and drafts, rates and counts.
import { sum } from "./arithmetic.js";

const MS = 1000;
const SLACK_MS = 1000; // some clocks show whole seconds
const NEARLY = 0.03; // of a number of drafts
const whole = (value) => (Number.isInteger(value) && value >= 0 ? value : null);
const mean = (values) => (values.length ? sum(values) / values.length : null);
const known = (values) => values.filter((value) => value !== null);
export const middleOf = (values) => {
  const sorted = values.filter((value) => value > 0).sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return mean(sorted.slice(Math.floor(middle), Math.ceil(middle) + 1));
};

// An object with a value for each name.
const named = (names, read) => Object.fromEntries(names.map((name) => [name, read(name)]));

export const by = (rows, nameOf) => {
  const groups = new Map();
  for (const row of rows) {
    const name = nameOf(row);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(row);
  }
  return [...groups.values()];
};

// The number of requests at the same time: each began when its times say, before its last line.
const overlapping = (requests) => {
  const spans = requests
    .filter(({ end, ms }) => end && ms !== null)
    .map(({ end, ms, promptMs }) => [end * MS - ms - (promptMs ?? 0), end * MS]);
  const during = ([start]) => spans.filter(([a, b]) => a <= start && start < b - SLACK_MS);
  return Math.max(1, ...spans.map((each) => during(each).length));
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
    drafted:
      number("drafted") ??
      both ??
      (accepted ? whole(Math.round(accepted / number("share"))) : null),
    accepted,
    rounds: number("rounds"),
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
    if (requests.length === 1) return false; // of one request, nothing shows what was before
    return (
      tokens === 1 ||
      (tokens === null && requests.some(({ number }) => number("prompt_tokens") === 1)) ||
      (tokens !== null &&
        table.cached.some(([most, by]) => tokens <= most && tokens * by <= earlier))
    );
  });
};
const requestsIn = (found, table) => {
  const own = found.filter((each) => each.form.gives === "request" && each.number("tokens"));
  const repeats = repeatsIn(own, table);
  return own.map((each, at) => ({
    ...requestOf(each),
    repeat: repeats[at],
    end: each.time,
    // Without its last lines, a request may have lost its counts.
    silent: each.form.silent in each.figures && !each.figures.share && !each.figures.unclear,
  }));
};

// ---- counts of drafts beside the requests: of the best source there is ---------------------------
const COUNTS = ["rounds", "drafted", "accepted", "emitted"];
// The drafts of a round are whole: its accepted tokens have the target's own one, or not.
const byAccepted = (accepted, share) => {
  const isWhole = (drafts) => Math.abs(drafts - Math.round(drafts)) < NEARLY;
  const fits = [accepted, accepted + 1].filter((length) => isWhole((length - 1) / share));
  return accepted && fits.length === 1 ? fits[0] : null;
};
const lengthOf = (each) => {
  const rates = (each.figures.positions ?? "").split(",").map(Number);
  return (
    each.number("length") ??
    byAccepted(each.number("accepted_length"), each.number("share")) ??
    (rates[0] && rates.every((rate) => rate <= 1) ? 1 + sum(rates) : null)
  );
};
const countsOf = (each) => {
  const found = named(COUNTS, each.number);
  const [length, depth] = [lengthOf(each), each.number("depth")];
  const { positions } = each.figures;
  const width = depth ?? (positions ? positions.split(",").length : null);
  if (found.rounds === null && found.accepted && length > 1)
    found.rounds = found.accepted / (length - 1);
  else if (found.rounds === null && found.drafted !== null && width)
    found.rounds = found.drafted / width;
  return found;
};
const total = (rows) =>
  named(COUNTS, (name) => {
    const values = known(rows.map((row) => row[name]));
    return values.length ? Math.round(sum(values)) : null;
  });
// A metrics page: of two readings, the difference between them; one line for each engine and
// rank.
const bySeries = (rows) =>
  by(rows, ({ server, figures }) => `${server} ${figures.series}`).map((own) => {
    const [first, last] = [own.length > 1 ? countsOf(own[0]) : {}, countsOf(own.at(-1))];
    return named(COUNTS, (name) => (last[name] === null ? null : last[name] - (first[name] ?? 0)));
  });
const lastOf = (rows) => [...new Map(rows.map((row) => [row.server, countsOf(row)])).values()];
const eachOf = (rows) => rows.map(countsOf);
const untimed = (rows) => (rows.some(({ number }) => number("tokens")) ? [] : eachOf(rows));
const [run, row, interval] = [eachOf, eachOf, eachOf];
const SOURCES = { series: bySeries, run, row, total: lastOf, interval, request: untimed };
const REFUSED =
  "The counts are impossible: fewer than zero tokens were drafted, or more were accepted than " +
  "drafted or written. Paste two readings of a metrics page in the order of their times.";
const counters = (found) => {
  for (const [gives, of] of Object.entries(SOURCES)) {
    const rows = found.filter(({ form }) => form.gives === gives);
    const counts = rows.length ? total(of(rows)) : null;
    if (counts && counts.accepted !== null && (counts.drafted !== null || counts.rounds !== null))
      return counts;
  }
  return null;
};
const impossible = ({ drafted = null, accepted = null, rounds = null, tokens = null }) =>
  Math.min(drafted, accepted, rounds) < 0 ||
  (drafted !== null && accepted > drafted) ||
  (tokens !== null && rounds === null && accepted > tokens);

// The last sums of llama-server for each kind of draft.
const SUMS = ["calls", "drafts", "tokens", "accepted", "draft_ms"];
const statisticsOf = (found) => {
  const rows = found.filter(({ form }) => form.gives === "statistics");
  const last = new Map(rows.map((each) => [each.figures.kind, each]));
  return [...last].map(([kind, each]) => ({ kind, ...named(SUMS, each.number) }));
};

// ---- all that a text says -------------------------------------------------------------------------
// The speed of one request, which a throughput of a whole benchmark is not.
const rateOf = ({ number }) => {
  const tpot = number("tpot_ms");
  return tpot ? MS / tpot : number("rate");
};
// The middle speed of the fewest requests at once; less than half of the highest is a start or end.
const rateIn = (found) => {
  const progress = found.filter(({ form }) => form.gives === "progress");
  const rows = found.filter((each) => each.form.gives !== "progress" || each === progress.at(-1));
  const rated = rows.filter((each) => rateOf(each) > 0 && each.number("at_once") !== 0);
  const atOnce = (each) => each.number("at_once") ?? 1;
  const least = Math.min(...rated.map(atOnce));
  const rates = rated.filter((each) => atOnce(each) === least).map(rateOf);
  const most = Math.max(...rates);
  const rate = middleOf(rates.filter((each) => each >= most / 2));
  return { rate, beside: least, rateOf: rated.some(({ number }) => number("tpot_ms")) ? 1 : least };
};
// The run that these figures of one part of a text are about.
export const runOf = ({ found: stated, unread, models, part }, table) => {
  const both = (names, groups) => (groups ? named(names, (name) => Number(groups[name])) : null);
  const refused =
    [...requestsIn(stated, table), counters(stated) ?? {}].some(impossible) ||
    stated.some(({ number }) => number("share") > 1);
  const found = refused ? [] : stated;
  const requests = requestsIn(found, table);
  const all = (name) => known(found.map((each) => each.number(name)));
  return {
    requests,
    statistics: statisticsOf(found),
    layers: both(["on", "all"], part.layers), // the target's line comes first
    power: both(["drawn", "limit"], part.power),
    atOnce: Math.max(overlapping(requests), ...all("at_once")),
    ...(requests.length ? { rate: null, rateOf: 1 } : rateIn(found)),
    mismatch: part.mismatch?.words ?? null,
    counters: counters(found),
    stated: {
      length: mean(known(found.map(lengthOf))),
      share: requests.some(({ repeat }) => repeat) ? null : mean(all("share")),
    },
    engine: [...new Set(found.map(({ form }) => form.engine))].filter(Boolean),
    unread: unread.map(({ number, form }) => [number, form.of]),
    models: [...models],
    refused: refused ? REFUSED : null,
  };
};
