// Look up the answer to "does it help me?" in `assets/answers/`, where Python has answered every
// listed model on every listed machine. This script finds the names in the typed text and draws the
// answer, as text nodes only.
import { machineName, once } from "./answerdata.js";
import { decides } from "./decides.js";
import { el, link } from "./dom.js";
import { machineFor, modelFor, USUAL_RAM_GIB } from "./listed.js";
import { readModel, read as readNames } from "./names.js";
import { rate, times } from "./say.js";

const [LOW, HIGH] = [0.4, 5]; // ends of the axis, as on the map
const NAME_A_CARD = "Name a card such as RTX 4060, a Mac such as M4 Pro 24 GB, or a memory: 12 GB.";
const EXAMPLES = ["8B", "14B", "27B", "35B-A3B", "70B"];

// A machine has rows for the sizes of main memory that decide what fits; each holds up to the next.
const rowFor = ({ answers, columns }, { number }, ram) =>
  answers[number].findLast((row) => row[columns.indexOf("ram")] <= ram) ?? answers[number][0];

// The field for the card takes a whole sentence; a model in its own field counts instead.
export const answerTo = async (data, { card = "", model = "", task = "all", ram = "" }) => {
  const typed = readNames(data.names, card);
  const whole = model.trim() ? readModel(data.names, model) : typed.model;
  const isListed = whole && modelFor(data, whole).model && !modelFor(data, whole).instead;
  const asked = isListed || !model.trim() ? whole : (readNames(data.names, model).model ?? whole);
  const found = card.trim() ? machineFor(data, typed.machine, card) : {};
  const named = asked ? modelFor(data, asked) : {};
  const question = {
    ...{ card: card.trim(), model: model.trim(), found, named, ram },
    task: task === "all" && typed.task ? typed.task : task,
    typed: { ...typed, model: asked },
  };
  if (!found.machine || !named.model) return { question };
  const file = await once(`${data.folder}${named.model.id}.json`);
  const row = rowFor(file, found.machine, Number(ram) || typed.machine.ram_gib || USUAL_RAM_GIB);
  if (!row) return { question };
  const answer = Object.fromEntries(file.columns.map((name, at) => [name, row[at]]));
  for (const name of data.words) answer[name] = file.texts[answer[name]] ?? null;
  return { question, answer: { ...answer, dots: file.dots[answer.dots] } };
};

const copy = async ({ target }, text) => {
  try {
    await navigator.clipboard.writeText(text);
    target.textContent = "Copied";
  } catch {
    target.textContent = "Select the line";
  }
};

// The positions of the marks on the axis, the same as in `answer_card.py`.
const position = (ratio) =>
  Math.min(Math.max(Math.log(ratio / LOW) / Math.log(HIGH / LOW), 0), 1) * 100;
const place = (strip, { speedup, low, high, dots }) => {
  const [even, at, from, to] = [1, speedup, low, high].map(position);
  const set = (mark, values) => {
    for (const [name, value] of Object.entries(values)) mark.setAttribute(name, `${value}%`);
  };
  const [band, line, ring, tick] = strip.querySelectorAll(".b, .e, .d, .t");
  set(band, { x: from, width: to - from });
  set(line, { x1: even, x2: even });
  set(tick, { x1: at, x2: at });
  const rings = (dots ?? []).map(() => ring.cloneNode());
  for (const [number, each] of rings.entries()) set(each, { cx: position(dots[number]) });
  ring.replaceWith(...rings);
};

const instead = ({ found, named }) =>
  [
    found.instead ? `answered as ${machineName(found.machine)}: ${found.instead}` : null,
    named.instead ? `answered as ${named.model.label}: ${named.instead}` : null,
  ]
    .filter(Boolean)
    .join("; ");

// The words of each slot of the card; a part without words is not drawn.
const slots = (question, answer) => {
  const { found, named, task } = question;
  const { fits, baseline_tps: before, tps: after, speedup, low, high } = answer;
  const drawn = fits !== "no" && speedup !== null;
  const wished = document.querySelector(`option[value="${CSS.escape(task)}"]`)?.textContent;
  const note = wished && task !== "all" ? `; over all tasks, not ${wished} alone` : "";
  return {
    ...answer,
    asked: machineName(found.machine),
    instead: instead(question),
    grade: answer.look.at(-1),
    before: fits === "no" ? null : rate(before),
    after: drawn ? rate(after) : null,
    speedup: drawn ? times(speedup) : null,
    range: drawn ? `${times(low).slice(0, -1)} to ${times(high)}` : null,
    support: answer.support + note,
    model: named.model.label,
  };
};

// What decides, and a field for the visitor's acceptance; its script is loaded at its first use.
const accept = (place, rules, answer) => {
  const [first, ...more] = decides(rules, answer);
  place.querySelector("summary").textContent = first;
  place.querySelector("p").textContent = more.join(" ");
  const field = el("input", { type: "number", min: 0, max: 100, step: "any" });
  const out = el("output");
  const show = async () => (await import("./accepted.js")).show(rules, answer, field, out);
  field.value = new URLSearchParams(location.search).get("accepted") ?? "";
  field.addEventListener("input", show);
  place.append(el("label", "", "I get ", field, " % accepted"), out);
  if (field.value) show();
};

const answered = (data, question, answer) => {
  const card = document.querySelector("#dm-answer").content.firstElementChild.cloneNode(true);
  const words = slots(question, answer);
  card.className += ` ${answer.look}`;
  for (const part of card.querySelectorAll("[data-part]"))
    if (!words[part.dataset.part]) part.remove();
  for (const slot of card.querySelectorAll("[data-slot]"))
    slot.textContent = words[slot.dataset.slot];
  for (const button of card.querySelectorAll("[data-copies]"))
    button.addEventListener("click", (event) => copy(event, words[button.dataset.copies]));
  const { id, page } = question.named.model;
  card.querySelector("[data-link=explore]").href = exploreAddress(data, question);
  if (page)
    card.querySelector("[data-link=model]").href =
      data.root + (page === true ? `models/${id}/` : page);
  if (words.after) place(card.querySelector("svg"), answer);
  const rules = { ...data.decides, reach: question.found.machine.reach };
  if (answer.cost) accept(card.querySelector(".dm-decides"), rules, answer);
  return card;
};

const strange = (words, asked, nearest, why) =>
  el(
    "p",
    "",
    why ? `${why[0].toUpperCase()}${why.slice(1)}` : `No ${words} of that name (“${asked}”)`,
    nearest.length
      ? `; nearest: ${[...new Set(nearest.map(({ label }) => label))].slice(0, 3).join(", ")}.`
      : ".",
  );

const unanswered = (data, { card, model, found, named }) => {
  const address = (each) => `${data.root}?${new URLSearchParams({ card, model: each })}#mine`;
  const sizes = EXAMPLES.flatMap((each) => [" · ", link(address(each), each)]).slice(1);
  return el(
    "section",
    "dm-advice dm-answer",
    el("h2", "dm-answer__verdict", "Which machine, which model?"),
    found.nearest ? strange("machine", card, found.nearest, found.why) : null,
    named.nearest?.length ? strange("model", model || card, named.nearest) : null,
    found.machine
      ? el("p", "", `Name a model for ${machineName(found.machine)}, or its size: `, ...sizes)
      : el("p", "", NAME_A_CARD),
  );
};

// The filters of Explore that show the figures of this machine and this model, by their ids.
const exploreAddress = ({ root }, { card, model, found, named, task }) => {
  const ids = { device: found.machine?.id, target: named.model?.page && named.model.id };
  const words = ids.device || ids.target ? "" : `${card} ${model}`.trim();
  const asked = { words, ...ids, task: task === "all" ? "" : task };
  const query = new URLSearchParams(Object.entries(asked).filter(([, value]) => value));
  return `${root}explore/${query.size ? `?${query}` : ""}`;
};

export const draw = (data, { question, answer }) =>
  answer ? answered(data, question, answer) : unanswered(data, question);
