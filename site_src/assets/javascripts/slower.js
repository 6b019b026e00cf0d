// The page "Why is it slower?": two pasted runs or a few typed numbers, and the findings about
// them. Nothing is sent anywhere; the address keeps typed numbers, never pasted texts.
import { el, link, remember, restore } from "./dom.js";
import { compiled } from "./forms.js";
import { count, interval, listed, number, percent, times, UNKNOWN } from "./say.js";
import { figures } from "./tworuns.js";

const WAIT_MS = 200; // a log is read when typing pauses

// ---- what was given -------------------------------------------------------------------------
const typed = (form) => {
  const found = {};
  for (const field of form.querySelectorAll("input[type='number']")) {
    found[field.dataset.name] =
      field.value === "" || !field.validity.valid ? null : Number(field.value);
  }
  return found;
};

// ---- what it says ---------------------------------------------------------------------------
const tile = (term, value, note, tone = "flat") =>
  el(
    "div",
    `dm-tile dm-tile--${tone}`,
    el("dt", "", term),
    el("dd", "dm-tile__figure", value),
    el("dd", "dm-tile__note", ...[note].flat()),
  );

const pill = (known, name) =>
  el("span", `dm-verdict dm-verdict--${name}`, known.verdicts[name].label);

const tiles = (f, known) => {
  const list = el("dl", "dm-tiles");
  const tone = f.verdict === null ? "flat" : known.verdicts[f.verdict].tile;
  const note = f.verdict === null ? ["give both speeds"] : [pill(known, f.verdict)];
  if (f.low !== null)
    note.push(" ", el("span", "dm-interval", interval(f.low, f.high)), " this machine");
  else if (f.middle !== null) note.push(" one figure each: no interval");
  const most = f.length === null ? null : `of ${number(f.length + 1, 2)} with a perfect draft`;
  const unit = "in plain tokens; a round must yield R tokens to break even";
  const even = f.needed > 1 ? "even 100 % would not" : percent(f.needed && Math.max(0, f.needed));
  list.append(
    tile("Speedup", times(f.middle), note, tone),
    tile("Tokens per round", number(f.yielded, 2), most ?? "what a round yields"),
    tile("R, the cost of a round", number(f.cost, 2), unit),
    tile(
      "Accepted",
      percent(f.acceptance),
      f.needed === null ? "of the drafted tokens" : `${even} break${f.needed > 1 ? "" : "s"} even`,
    ),
  );
  return list;
};

const sentence = (f) => {
  const lacking =
    "These texts do not have the tokens per round. Type them, or the accepted tokens, above, and " +
    "this page can find the reason.";
  const other =
    "Paste or type the other run as well: the speedup and the cost of a round need both runs.";
  if (f.middle === null && f.yielded === null && f.acceptance !== null)
    return `${lacking} ${other}`;
  if (f.middle === null)
    return f.yielded === null
      ? other
      : `A round yields ${number(f.yielded, 2)} tokens, so it pays only if it costs less ` +
          `than ${number(f.yielded, 2)} plain tokens. ${other}`;
  if (f.cost === null) return lacking;
  const way = f.yielded > f.cost ? "more than it costs" : "less than it costs";
  const best =
    f.ceiling === null ? "" : ` A perfect draft of this length would reach ${times(f.ceiling)}.`;
  return (
    `A round yields ${number(f.yielded, 2)} tokens and costs ${number(f.cost, 2)} plain ` +
    `tokens: ${way}. ${number(f.yielded, 2)} ÷ ${number(f.cost, 2)} = ${times(f.middle)}.${best}`
  );
};

const FORMS = {
  text: String,
  percent,
  share: (value) => percent(value, 1),
  times,
  interval: (low, { high }) => interval(low, high),
};
const said = (f, name, form) => {
  if (f[name] === null) return UNKNOWN;
  if (/[0-9]/.test(form)) return number(f[name], Number(form));
  return form in FORMS ? FORMS[form](f[name], f) : count(f[name], form);
};

// Whether a remedy for such runs may apply to this run; an unknown fact may fit.
const mayHold = (word, { engines, drafter, longest }) => {
  if (word === "deep") return longest === null || longest > 1;
  if (["head", "model", "lookup"].includes(word)) return drafter === null || drafter === word;
  return !engines.length || engines.includes(word);
};

const causes = (place, f, known, judged) => {
  const list = el("ol", "dm-slower__reasons");
  for (const { id, sure } of judged) {
    const { title, says, bare } = known.reasons[id];
    const item = el(
      "li",
      "",
      el("strong", "", title),
      " ",
      el("span", "dm-verdict", sure ? "in your figures" : "to check"),
    );
    const lines = [says, bare ?? says].map((each) =>
      each.replace(/\{(\w+):(\w+)\}/g, (_, name, form) => said(f, name, form)),
    );
    const line = lines.find((each) => !each.includes(UNKNOWN));
    if (line) item.append(el("p", "", line));
    const remedy = place.querySelector(`[data-reason="${id}"]`).cloneNode(true);
    remedy.removeAttribute("data-reason");
    for (const more of remedy.querySelectorAll("[data-when]"))
      if (!more.dataset.when.split(" ").every((word) => mayHold(word, f))) more.remove();
    item.append(remedy);
    list.append(item);
  }
  return list;
};

const heard = (runs, f) => {
  const parts = ["without", "with"].flatMap((side) => {
    const { requests, rate, rateOf } = runs[side];
    if (requests.length) return [`${count(requests.length, "request")} ${side} speculation`];
    const many = rateOf > 1 ? `, the sum of ${rateOf} requests` : "";
    return rate === null
      ? []
      : [`${number(rate)} tokens/s ${side} speculation (the log’s median${many})`];
  });
  const models = [...new Set([...runs.without.models, ...runs.with.models])];
  if (models.length) parts.push(`${listed(models)} left out: times of each model, not of requests`);
  return parts.length
    ? `Read: ${parts.join(", ")}${f.paired ? ", paired by their order" : ""}.`
    : "";
};

// Several runs: what was found of each, and the question which two to compare.
const question = (asked, given, known, choose) => {
  const picked = {};
  const choice = (run, side) => {
    const [name, ariaLabel] = [`pick-${side}`, `${side} speculation`];
    const pick = el("input", { type: "radio", name, ariaLabel });
    pick.addEventListener("change", () => {
      picked[side] = run;
      if (picked.without && picked.with) choose({ swapped: false, ...picked });
    });
    return pick;
  };
  const rows = asked.map((run, at) => {
    const f = figures({ requests: [], rate: null, engine: [] }, run, given, known);
    const many = run.rateOf > 1 ? ` of ${run.rateOf} requests` : "";
    const cells = [`${number(f.specRate)}${many}`, number(f.yielded, 2), percent(f.acceptance)];
    const picks = ["without", "with"].map((side) => choice(run, side));
    const name = el("th", "", run.titles.join(" · ") || `Run ${at + 1}`);
    return el("tr", "", name, ...[...cells, ...picks].map((each) => el("td", "", each)));
  });
  const names = ["Run", "Tokens/s", "Tokens per round", "Accepted", "Without", "With"];
  const head = el("tr", "", ...names.map((name) => el("th", "", name)));
  const words = `Several runs were found (${asked.length}). Which two should be compared?`;
  return [el("p", "", words), el("table", "", el("thead", "", head), el("tbody", "", ...rows))];
};

const show = async (place, known, picked = null) => {
  const form = place.querySelector("form");
  const given = typed(form);
  const texts = ["without", "with"].map((side) => form.elements[side].value);
  const out = place.querySelector("[data-part='answer']");
  const fields = [...form.querySelectorAll("textarea, input[type='number']")];
  const invitation = el("p", "dm-muted", "Paste two runs, type numbers, or take an example.");
  if (fields.every(({ value, defaultValue }) => !value.trim() || value === defaultValue))
    return void out.replaceChildren(invitation);
  // The readers are loaded once somebody types.
  const [{ sides }, { complaints, reasons }] = await Promise.all([
    import("./runs.js"),
    import("./reasons.js"),
  ]);
  const runs = picked ?? sides(texts, known.compiled);
  if (runs.asked) {
    const choose = (two) => show(place, known, two);
    return void out.replaceChildren(...question(runs.asked, given, known, choose));
  }
  const f = figures(runs.without, runs.with, given, known);
  const wrong = complaints(form, runs, given).map((line) => el("p", "dm-slower__wrong", line));
  const names = ["middle", "yielded", "acceptance", "plainRate", "specRate", "drafted"];
  if (names.every((name) => f[name] === null))
    return void out.replaceChildren(...wrong, ...(wrong.length ? [] : [invitation]));
  const list = causes(place, f, known, reasons(f, known));
  out.replaceChildren(...wrong, tiles(f, known), el("p", "", sentence(f)));
  if (f.acceptance) {
    const address = `../?accepted=${Number((f.acceptance * 100).toFixed(1))}#mine`;
    const text = `What ${percent(f.acceptance)} accepted would give on a card and model`;
    out.append(el("p", "", link(address, text), "."));
  }
  if (list.childElementCount) out.append(el("h3", "", "Likely reasons"), list);
  out.append(el("p", "dm-muted dm-small", heard(runs, f)));
};

// ---- page -----------------------------------------------------------------------------------
const fill = async (place, button) => {
  const form = place.querySelector("form");
  const replies = await Promise.all([fetch(button.dataset.without), fetch(button.dataset.with)]);
  if (!replies.every((reply) => reply.ok)) return;
  [form.elements.without.value, form.elements.with.value] = await Promise.all(
    replies.map((reply) => reply.text()),
  );
  for (const field of form.querySelectorAll("input[type='number']")) field.value = "";
  place
    .querySelector("[data-part='credit']")
    .replaceChildren(...button.nextElementSibling.cloneNode(true).childNodes);
  form.dispatchEvent(new Event("input"));
};

const wake = (place) => {
  const known = JSON.parse(place.querySelector("script[type='application/json']").textContent);
  known.compiled = compiled(known.patterns);
  const form = place.querySelector("form");
  form.hidden = false;
  const typedIn = [...form.querySelectorAll("input[type='number']")].map(({ name }) => name);
  restore(form, typedIn);
  let waiting;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      remember(form, typedIn);
      show(place, known);
    }, WAIT_MS);
  });
  for (const button of form.querySelectorAll("button[data-with]"))
    button.addEventListener("click", () => fill(place, button));
  form.querySelector("button[type='reset']").addEventListener("click", () => {
    place.querySelector("[data-part='credit']").replaceChildren();
    setTimeout(() => form.dispatchEvent(new Event("input")));
  });
  show(place, known);
  place.dataset.state = "ready";
};

document$.subscribe(() => {
  const place = document.querySelector(".dm-slower:not([data-state])");
  if (place) wake(place);
});
