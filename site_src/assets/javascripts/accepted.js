// The visitor's own acceptance: the field on the card of an answer, and the numbers with it, as in
// `planner/acceptance.py`. The address keeps it, in percent; "Why is it slower?" links to it.
import { gainOf } from "./decides.js";
import { number, rate, times } from "./say.js";

export const withAccepted = (rules, row, share) => {
  const gain = gainOf(row, share);
  const reach = rules.reach * Math.hypot(rules.spread, rules.apart * Math.log(gain / row.speedup));
  const high = Math.min(gain * Math.exp(reach), row.depth + 1);
  return { gain, low: gain / Math.exp(reach), high, tps: row.baseline_tps * gain };
};

export const show = (rules, row, field, out) => {
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
