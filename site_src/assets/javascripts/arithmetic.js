// The arithmetic of "Why is it slower?". A test gives this script and `estimates` the same thousand
// random inputs.
export const sum = (values) => values.reduce((a, b) => a + b, 0);

// ---- verdicts and intervals, the same as in `estimates/verdicts.py` and `estimates/intervals.py`
const clear = (words, { low, high }) => {
  const reach = Math.exp((words.clear_of_one * Math.log(high / low)) / 2);
  if (low > Math.max(words.helps_above, reach)) return 1;
  return high < Math.min(words.hurts_below, 1 / reach) ? -1 : 0;
};
// `request` is the interval of the whole request, if prompt times are known.
export const judged = (words, found, request = null) => {
  if (found.low === null) return "too-few-prompts";
  const direction = clear(words, found);
  if (direction > 0)
    return request && request.low !== null && clear(words, request) < 0 ? "slower-in-all" : "helps";
  return direction < 0 ? "hurts" : "no-clear-difference";
};

export const mean = (values) => sum(values) / values.length;
// The time without speculation over the time with it, from both times of each request, and the
// ratio's interval by linearisation; no bounds with fewer than two requests.
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
export const rounds = ({ tokens, accepted, rounds: stated = null }) =>
  stated ??
  (tokens === null || accepted === null || tokens - 1 - accepted <= 0
    ? null
    : tokens - 1 - accepted);
export const yieldOf = (requests) => {
  const counts = requests.map(rounds);
  return counts.length && counts.every((count) => count !== null)
    ? sum(requests.map(({ tokens }) => tokens - 1)) / sum(counts)
    : null;
};

// The measured R, and two values at this R: the share of drafted tokens that must be accepted to
// break even, and the speedup of a perfect draft of the same length.
export const costOf = (yielded, speed) => yielded / speed;
export const neededAcceptance = (cost, length) => (cost - 1) / length;
export const perfect = (cost, length) => (length + 1) / cost;
