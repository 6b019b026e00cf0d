// What decides about an answer, as in `planner/deciding.py`.
import { listed, number, percent, times } from "./say.js";

export const gainOf = ({ cost, depth }, share) => (1 + share * depth) / cost;

export const decides = (rules, row) => {
  const { cost, depth, speedup, usual } = row;
  const even = (cost - 1) / depth;
  const words = {
    ...{ depth, usual, most: depth + 1, tokens: number(cost, 1), even: percent(even) },
    expected: percent(Math.min(Math.max((speedup * cost - 1) / depth, 0), 1)),
    each: listed(rules.shares.map((at) => `${times(gainOf(row, at))} at ${percent(at)}`)),
  };
  return [even > 1 ? "no-acceptance" : "even", "expected-acceptance", "strip"].map((name) =>
    rules[name].replace(/\{(\w+)\}/g, (_, word) => words[word]),
  );
};
