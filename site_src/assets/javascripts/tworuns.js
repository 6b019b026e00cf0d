// Compute the figures of two runs, one without and one with speculation: rates, rounds, tokens,
// costs.
import {
  costOf,
  judged,
  mean,
  msPerToken,
  neededAcceptance,
  perfect,
  rounds,
  sum,
  timeRatio,
  yieldOf,
} from "./arithmetic.js";

const MS = 1000;
// The requests whose steps have a time, or a rate from which the time follows.
const timed = (run) =>
  run.requests
    .map((each) =>
      each.ms === null && each.perSecond
        ? { ...each, ms: ((each.tokens - 1) / each.perSecond) * MS }
        : each,
    )
    .filter((each) => msPerToken(each) !== null);

// Tokens/s: measured without each first token, or as the tool counted them that printed a rate.
const measured = ({ tokens }) => tokens - 1;
const stated = (each) => (each.perSecond ? (each.perSecond * each.ms) / MS : measured(each));
const rate = (run, typed, countOf) => {
  const requests = timed(run);
  return requests.length
    ? (sum(requests.map(countOf)) / sum(requests.map(({ ms }) => ms))) * MS
    : (run.rate ?? typed);
};

// Leave out requests that repeat an earlier one from the cache; of a pair, leave out both.
const fresh = (plain, spec) => {
  const both = plain.requests.length === spec.requests.length;
  const repeats = (at) => both && [plain, spec].some(({ requests }) => requests[at].repeat);
  return [plain, spec].map((run) => ({
    ...run,
    requests: run.requests.filter((each, at) => !each.repeat && !repeats(at)),
  }));
};

// Requests of two runs are paired by position if both runs have the same number of them, with
// prompts of the same length.
const samePrompts = (plain, spec) =>
  plain.length === spec.length &&
  plain.every(
    ({ promptTokens: own }, at) => own === null || [null, own].includes(spec[at].promptTokens),
  );

const speed = (plain, spec, typed, known) => {
  const [without, with_] = [timed(plain), timed(spec)];
  const paired = without.length > 0 && samePrompts(without, with_);
  if (paired)
    return {
      paired,
      ...timeRatio(
        without.map((each, at) => [msPerToken(each), msPerToken(with_[at])]),
        known.quantiles,
      ),
    };
  const [slow, fast] = [rate(plain, typed.plain, measured), rate(spec, typed.spec, measured)];
  // A sum over several requests is compared with a sum over as many.
  if (plain.rate && spec.rate && plain.beside !== spec.beside)
    return { paired, middle: null, low: null, high: null };
  return { paired, middle: slow && fast ? fast / slow : null, low: null, high: null };
};

// Tokens per round: over all rounds of a run, or over pairs of requests as one over the mean of
// rounds per token, weighted as the times of the speedup are.
const yieldOver = (requests, paired) => {
  const each = requests.map((one) => yieldOf([one]));
  return paired && each.every((value) => value !== null)
    ? 1 / mean(each.map((value) => 1 / value))
    : yieldOf(requests);
};

// Rounds, drafted and accepted tokens of the run with speculation, from the best available source:
// its requests, its counters, the text's figures for a round, typed numbers.
const drafting = (spec, typed, paired) => {
  const { requests, counters } = spec;
  const [length, share] = [spec.stated.length ?? typed.length ?? null, spec.stated.share];
  const silent = requests.some((each) => each.silent) && !counters && length === null;
  if (silent || requests.some((each) => each.accepted !== null)) {
    // Some servers print nothing about drafts if they drafted nothing.
    const counted = requests.map((each) =>
      each.silent ? { ...each, drafted: each.drafted ?? 0, accepted: each.accepted ?? 0 } : each,
    );
    const stated = counted.filter((each) => each.accepted !== null); // others were cut
    const drafts = stated.map((each) => each.drafted);
    return {
      drafted: drafts.includes(null) ? null : sum(drafts),
      accepted: sum(stated.map((each) => each.accepted)),
      rounds: sum(stated.map((each) => rounds(each) ?? 0)) || null,
      yielded: yieldOver(stated, paired && stated.length === counted.length),
      share,
    };
  }
  const { drafted, accepted, rounds: stated = null, emitted = null } = counters ?? typed;
  const tokens = counters ? null : typed.tokens;
  const yieldBy = (all) => (all ? (emitted ?? accepted + all) / all : null);
  if (drafted === null || accepted === null)
    return { drafted, accepted, rounds: stated, yielded: stated ? yieldBy(stated) : length, share };
  let known = stated;
  if (tokens !== null) known ??= rounds({ tokens, accepted });
  else if (typed.depth && drafted) known ??= drafted / typed.depth;
  else if (length > 1) known ??= accepted / (length - 1);
  const yielded =
    tokens !== null ? yieldOf([{ tokens, accepted }]) : stated || !length ? yieldBy(known) : length;
  return { drafted, accepted, rounds: known, yielded, share };
};

const shareOf = ({ drafted, accepted, share }) =>
  drafted && accepted !== null && accepted <= drafted ? accepted / drafted : share;

const statistics = (spec) => {
  const all = spec.statistics;
  // A chain tries one kind after the other.
  const calls = Math.max(0, ...all.map((each) => each.calls));
  if (!calls) return { draftMs: null, fired: null, length: null };
  const drafts = sum(all.map((each) => each.drafts));
  const timedAll = all.every((each) => each.draft_ms !== null);
  return {
    draftMs: timedAll ? sum(all.map((each) => each.draft_ms)) / calls : null,
    fired: Math.min(1, drafts / calls),
    length: drafts ? sum(all.map((each) => each.tokens)) / drafts : null,
  };
};

const promptMs = (run) => {
  const read = run.requests.filter((each) => each.promptTokens > 0 && each.promptMs > 0);
  return read.length && read.length === run.requests.length
    ? sum(read.map((each) => each.promptMs)) / sum(read.map((each) => each.promptTokens))
    : null;
};

// The drafter, by the kind that drafted most: a model, a head of the target, or a look-up.
const drafter = (spec, known) => {
  const kinds = [...spec.statistics].sort((a, b) => b.tokens - a.tokens);
  return kinds.length ? (known.kinds[kinds[0].kind.replaceAll("_", "-")] ?? null) : null;
};

// All figures; an unknown figure is null.
export const figures = (plainRun, specRun, typed, known) => {
  const [plain, spec] = fresh(plainRun, specRun);
  const found = speed(plain, spec, typed, known);
  const drafts = drafting(spec, typed, found.paired);
  const log = statistics(spec);
  const cost =
    found.middle !== null && drafts.yielded !== null ? costOf(drafts.yielded, found.middle) : null;
  // The tokens drafted in a round, on average.
  const length = drafts.rounds && drafts.drafted ? drafts.drafted / drafts.rounds : null;
  const [plainRate, specRate] = [rate(plain, typed.plain, stated), rate(spec, typed.spec, stated)];
  const roundMs = drafts.yielded !== null && specRate ? (drafts.yielded / specRate) * MS : null;
  const prompts = [plain, spec].map(promptMs);
  const most = typed.depth ?? length;
  const longest = typed.depth ?? log.length ?? (log.fired === null ? length : null);
  return {
    ...found,
    ...drafts,
    verdict:
      drafts.drafted === 0 ? "never-drafted" : found.middle === null ? null : judged(known, found),
    cost,
    length,
    longest: longest === null ? null : Math.round(longest),
    width: longest === null ? null : Math.round(longest) + 1,
    acceptance: shareOf(drafts),
    needed: cost !== null && length ? neededAcceptance(cost, length) : null,
    ceiling: cost !== null && length ? perfect(cost, most) : null,
    perfect: most === null ? null : most + 1,
    fired: log.fired,
    draftMs: log.draftMs,
    draftShare: log.draftMs < roundMs && log.draftMs !== null ? log.draftMs / roundMs : null,
    draftCost: log.draftMs !== null && plainRate ? (log.draftMs * plainRate) / MS : null,
    plainRate,
    specRate,
    requests: spec.requests.length,
    plainRequests: plain.requests.length,
    tokens: spec.requests.length ? sum(spec.requests.map((each) => each.tokens)) : typed.tokens,
    engines: [...new Set([...plain.engine, ...spec.engine])],
    drafter: drafter(spec, known),
    ...(spec.power ?? plain.power ?? { drawn: null, limit: null }),
    slots: Math.max(spec.atOnce, typed.slots ?? 1),
    layersWith: spec.layers?.on ?? typed.layersWith,
    layersWithout: plain.layers?.on ?? typed.layersWithout,
    layersAll: spec.layers?.all ?? plain.layers?.all ?? null,
    mismatch: spec.mismatch,
    promptRatio: found.paired && !prompts.includes(null) ? prompts[1] / prompts[0] : null,
  };
};
