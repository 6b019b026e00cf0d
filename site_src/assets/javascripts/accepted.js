// What decides about an answer, and its numbers with the visitor's own acceptance: the same as in
// `answers/deciding.py` and `answers/acceptance.py`. All follow from the cost of a round.
import { listed, number, percent, rate, times } from "./say.js";

const filled = (text, words) => text.replace(/\{(\w+)\}/g, (_, name) => words[name]);
const gainOf = ({ cost, depth }, share) => (1 + share * depth) / cost;

export const decides = (rules, { cost, depth, speedup, usual }) => {
  const even = (cost - 1) / depth;
  const at = (share) => `${times(gainOf({ cost, depth }, share))} at ${percent(share)}`;
  const words = {
    ...{ depth, usual, most: depth + 1 },
    ...{ tokens: number(cost, 1), even: percent(even) },
    expected: percent(Math.min(Math.max((speedup * cost - 1) / depth, 0), 1)),
    each: listed(rules.shares.map(at)),
  };
  const names = [even > 1 ? "no-acceptance" : "even", "expected-acceptance", "strip"];
  return names.map((name) => filled(rules[name], words)).join(" ");
};

export const withAccepted = (rules, row, share) => {
  const gain = gainOf(row, share);
  const reach = rules.reach * Math.hypot(rules.spread, rules.apart * Math.log(gain / row.speedup));
  const high = Math.min(gain * Math.exp(reach), row.depth + 1);
  return { gain, low: gain / Math.exp(reach), high, tps: row.baseline_tps * gain };
};

// The address keeps the visitor's number, in percent; "Why is it slower?" links to it.
export const attach = (card, rules, row) => {
  const place = card.querySelector("[data-accepted]");
  if (!place || !row.cost) return;
  card.querySelector("[data-decides]").textContent = decides(rules, row);
  const show = () => {
    const address = new URL(location);
    const given = place.value !== "" && place.validity.valid;
    if (given) address.searchParams.set("accepted", place.value);
    else address.searchParams.delete("accepted");
    history.replaceState(history.state, "", address);
    const own = given ? withAccepted(rules, row, Number(place.value) / 100) : null;
    card.querySelector("output").textContent = own
      ? `${times(own.gain)} [${number(own.low, 2)}, ${number(own.high, 2)}], about ${rate(own.tps)} tokens/s`
      : "";
  };
  place.value = new URLSearchParams(location.search).get("accepted") ?? "";
  place.addEventListener("input", show);
  if (place.value) show();
};
