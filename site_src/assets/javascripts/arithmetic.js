// The arithmetic of the pages on a visitor's own choices. A test gives it and the Python functions
// (`estimates/requests.py`, `tests/pipeline/predictions.py`, `pipeline/site/pages/what_if.py`) the
// same thousand random inputs.
"use strict";

// ---- the advisor: log speedup = log tokens per round − log round cost, both of the nearest pool
const NEAREST = 3;
export const key = (...words) =>
  words.filter((word) => word !== null && word !== undefined).join("|");
const depthWord = (choice) => (choice.depth === null ? null : `n${choice.depth}`);

const costKeys = (question, choice) => {
  const { device, backend, model, memory, size } = question;
  const how = [choice.method, depthWord(choice), choice.scope === "all" ? "all" : question.task];
  const keys = [];
  if (model && choice.draft) {
    const pair = key(backend, model.target, model.quantisation, choice.draft, ...how);
    if (device) keys.push(["cost-pair", key(device, pair)]);
    if (choice.draft_label) keys.push(["cost-draft", pair]);
  }
  if (device) keys.push(["cost-device", key(device, backend, size, ...how)]);
  if (memory) keys.push(["cost-memory", key(memory, backend, size, ...how)]);
  keys.push(["cost-backend", key(backend, size, ...how)]);
  return keys;
};

const yieldKeys = (question, choice) => {
  const how = [choice.method, depthWord(choice), question.task];
  const keys =
    question.model && choice.draft
      ? [["yield-pair", key(question.model.target, choice.draft, ...how)]]
      : [];
  return [...keys, ["yield-method", key(...how)]];
};

const first = (known, keys) => {
  const found = keys.find(([level, rest]) => Object.hasOwn(known.pools, `${level}|${rest}`));
  return found && { level: found[0], pool: known.pools[`${found[0]}|${found[1]}`] };
};

// What a round's bytes cost in steps of the target, as a logarithm, and its variance.
const bytesCost = ({ model }, choice, pool) =>
  model && model.step_bytes && choice.draft_bytes
    ? [Math.log1p(((choice.depth ?? 0) * choice.draft_bytes) / model.step_bytes), 0]
    : [pool.bytes_mean, pool.bytes_variance * (1 + 1 / pool.votes)];

const halfWidth = (known, choice, doubt, parts) => {
  const spreads = parts.map((part) => known.spreads[`${part.level}|${choice.method}`]);
  if (spreads.some((spread) => !spread)) return null;
  const variance = parts.reduce(
    (sum, part, at) => sum + spreads[at].variance * (1 + 1 / part.pool.votes),
    doubt,
  );
  return (
    known.quantiles[Math.min(...spreads.map((spread) => spread.freedom))] * Math.sqrt(variance)
  );
};

const measuredKey = ({ device, backend, model, task }, choice) =>
  device && model && choice.draft
    ? key(
        device,
        backend,
        model.target,
        model.quantisation,
        choice.draft,
        choice.method,
        depthWord(choice),
        task,
      )
    : "";

const answer = (known, question, choice) => {
  const cost = first(known, costKeys(question, choice));
  const gain = first(known, yieldKeys(question, choice));
  if (!cost || !gain) return null;
  const [read, doubt] = bytesCost(question, choice, cost.pool);
  const middle = gain.pool.mean - cost.pool.mean - read;
  const half = halfWidth(known, choice, doubt, [cost, gain]);
  return {
    choice,
    speedup: Math.exp(middle),
    low: half === null ? null : Math.exp(middle - half),
    high: half === null ? null : Math.exp(middle + half),
    roundCost: Math.exp(cost.pool.mean + read),
    tokensPerRound: Math.exp(gain.pool.mean),
    cost,
    gain,
    nearest: [...new Set([...cost.pool.nearest, ...gain.pool.nearest])].slice(0, NEAREST),
    error: known.errors[`${cost.level}|${gain.level}`] ?? null,
    anyError: known.errors[""] ?? null,
    measured: known.measured[measuredKey(question, choice)] ?? null,
  };
};

// Where exactly this was measured, that places it and not the prediction: the speedup or the whole
// request, whichever is smaller.
const expected = ({ measured, speedup }) =>
  measured ? Math.min(measured[0], measured[3] ?? measured[0]) : speedup;

export const answers = (known, question) => {
  if (question.model?.mixture) return [];
  const pairs = known.choices.filter(
    (choice) => question.model && choice.targets.includes(question.model.target),
  );
  const covered = new Set(pairs.map((choice) => key(choice.method, choice.depth)));
  const others = known.choices.filter(
    (choice) => choice.draft === null && !covered.has(key(choice.method, choice.depth)),
  );
  return [...pairs, ...others]
    .filter((choice) => question.method === "any" || choice.method === question.method)
    .map((choice) => answer(known, question, choice))
    .filter(Boolean)
    .sort((a, b) => expected(b) - expected(a));
};

// ---- the whole request: reading the prompt by target and draft, then writing the answer
// (`estimates/requests.py` is the same formula)
export const wholeRequest = (costs, promptTokens, outputTokens) => {
  const written = Math.max(0, outputTokens - 1);
  const baseline =
    costs.baseline_prompt_token_ms * promptTokens + costs.baseline_token_ms * written;
  return baseline / (costs.prompt_token_ms * promptTokens + costs.token_ms * written);
};
export const breakEvenTokens = (costs, promptTokens) => {
  const saved = costs.baseline_token_ms - costs.token_ms;
  const lost = (costs.prompt_token_ms - costs.baseline_prompt_token_ms) * promptTokens;
  if (saved <= 0) return null;
  return lost <= 0 ? 1 : 1 + lost / saved;
};

const sum = (values) => values.reduce((a, b) => a + b, 0);

// ---- verdicts and intervals, as `estimates/verdicts.py` and `estimates/intervals.py` have them
const clear = (words, { low, high }) => {
  const reach = Math.exp((words.clear_of_one * Math.log(high / low)) / 2);
  if (low > Math.max(words.helps_above, reach)) return 1;
  return high < Math.min(words.hurts_below, 1 / reach) ? -1 : 0;
};
// `request` is the interval of the whole request, where prompt times are known.
export const judged = (words, found, request = null) => {
  if (found.low === null) return "too-few-prompts";
  const direction = clear(words, found);
  if (direction > 0)
    return request && request.low !== null && clear(words, request) < 0 ? "slower-in-all" : "helps";
  return direction < 0 ? "hurts" : "no-clear-difference";
};

export const mean = (values) => sum(values) / values.length;
// Time without over time with speculation, from both times of each request, and its interval by
// linearisation; no bounds with fewer than two requests.
export const timeRatio = (pairs, quantiles) => {
  const plain = mean(pairs.map((pair) => pair[0]));
  const middle = plain / mean(pairs.map((pair) => pair[1]));
  const freedom = pairs.length - 1;
  if (freedom < 1) return { middle, low: null, high: null };
  const residuals = pairs.map(([x, y]) => (x - middle * y) / plain); // their mean is 0
  const variance = sum(residuals.map((each) => each ** 2)) / freedom;
  const half =
    (quantiles[Math.min(freedom, quantiles.length) - 1] ?? NaN) *
    Math.sqrt(variance / pairs.length);
  return { middle, low: middle * Math.exp(-half), high: middle * Math.exp(half) };
};

// ---- one run's counters, as `estimates/decomposition.py` has them: the first token belongs to the
// prompt, and every round yields its accepted tokens and one more
export const msPerToken = ({ tokens, ms }) => (tokens > 1 && ms > 0 ? ms / (tokens - 1) : null);
export const rounds = ({ tokens, accepted }) =>
  tokens === null || accepted === null || tokens - 1 - accepted <= 0 ? null : tokens - 1 - accepted;
export const yieldOf = (requests) => {
  const counts = requests.map(rounds);
  return counts.length && counts.every((count) => count !== null)
    ? sum(requests.map(({ tokens }) => tokens - 1)) / sum(counts)
    : null;
};

// R from what was seen, and what it takes at this R: the share of drafted tokens that must be
// accepted to break even, and the speedup of a perfect draft of the same length.
export const costOf = (yielded, speed) => yielded / speed;
export const neededAcceptance = (cost, length) => (cost - 1) / length;
export const perfect = (cost, length) => (length + 1) / cost;

// ---- what if: the textbook's tokens per round over the cost of a round
export const tokensPerRound = (acceptance, depth) =>
  acceptance >= 1 ? depth + 1 : (1 - acceptance ** (depth + 1)) / (1 - acceptance);
export const roundCost = (settings, depth) =>
  depth * settings.draft_cost + 1 + settings.verify_cost * depth;
export const speedup = (settings, depth) =>
  tokensPerRound(settings.acceptance, depth) / roundCost(settings, depth);
export const ceiling = (settings, depth) => (depth + 1) / roundCost(settings, depth);
