// What decides about an answer, and its numbers with the visitor's own acceptance: the same as in
// `answers/deciding.py` and `answers/acceptance.py`. All follow from the cost of a round.
import { el } from "./dom.js";
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

// The field for the visitor's number. The address keeps it, in percent; "Why is it slower?" links to
// it.
export const attach = (card, rules, row) => {
  const place = card.querySelector(".dm-decides");
  if (!place || !row.cost) return;
  place.firstElementChild.textContent = decides(rules, row);
  const field = el("input", { type: "number", min: 0, max: 100, step: "any" });
  const out = el("output");
  const show = () => {
    const address = new URL(location);
    const given = field.value !== "" && field.validity.valid;
    if (given) address.searchParams.set("accepted", field.value);
    else address.searchParams.delete("accepted");
    history.replaceState(history.state, "", address);
    const own = given ? withAccepted(rules, row, Number(field.value) / 100) : null;
    out.textContent = own
      ? `: ${times(own.gain)} [${number(own.low, 2)}, ${number(own.high, 2)}], about ${rate(own.tps)} tokens/s`
      : "";
  };
  field.value = new URLSearchParams(location.search).get("accepted") ?? "";
  field.addEventListener("input", show);
  place.append(el("label", "", "I get ", field, " % accepted"), out);
  if (field.value) show();
};
