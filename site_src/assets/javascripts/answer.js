// Look up the answer to "does it help me?" in `assets/answers/`, where Python has answered every
// listed model on every listed machine. This script finds the names in the typed text and draws the
// answer, as text nodes only.
import { el, read } from "./dom.js";
import {
  alike,
  cardIn,
  devicesFor,
  fitsSize,
  isCard,
  leftOver,
  memoryOf,
  modelsFor,
  parse,
} from "./matching.js";
import { rate, times } from "./say.js";

const NEAREST = 3;
const USUAL_RAM_GIB = 32;
const [LOW, HIGH] = [0.4, 5]; // ends of the axis, as on the map
const EXAMPLES = ["8B", "14B", "27B", "35B-A3B", "70B"];
const QUANTISATION = /[-_ :]*(?:ud-)?\b(?:i?q\d\w*|mxfp4|nvfp4|bf16|f16|gguf|instruct)\b/gi;

// The names, loaded once; the file of a model is loaded with the first question about it.
const loaded = new Map();
const once = (url) => {
  if (!loaded.has(url)) loaded.set(url, read(url));
  return loaded.get(url);
};
export const load = async ({ answers, vocabulary, root }) => {
  const [index, words] = await Promise.all([once(`${answers}index.json`), once(vocabulary)]);
  const machines = index.machines.map(([label, memory, kind, bandwidth, shared, free], number) => ({
    ...{ label, memory, kind, bandwidth, shared, free, number, address: null },
  }));
  return {
    ...index,
    named: index.words,
    machines,
    words,
    rules: words.spellings,
    folder: answers,
    root,
  };
};

// ---- names ------------------------------------------------------------------------------------
// Of one card in several sizes, choose the largest size up to the stated one, else the smallest.
const ofSize = (cards, memory) => {
  const sorted = cards.filter((each) => each.memory !== null).sort((a, b) => a.memory - b.memory);
  return sorted.findLast((each) => each.memory <= memory) ?? sorted[0] ?? cards[0];
};

const processorLike = (data, text) => {
  const names = Object.entries(data.processors);
  const [name] =
    names.find(([, words]) => words.some((word) => text.includes(word))) ?? names.at(-1);
  return data.machines.find(({ label }) => label === name);
};

// The listed machine that a text means (`typed` is the parsed text); `instead` if it differs from
// the machine in the text.
export const machineFor = (data, text, typed) => {
  const { rules, machines } = data;
  const cards = devicesFor(rules, machines, text);
  if (cards.length && isCard(cards[0])) return { machine: cards[0].device };
  const sized = devicesFor(rules, machines, { ...typed, memory: null }).filter(isCard);
  const same = sized.filter(({ cost }) => cost === sized[0].cost).map(({ device }) => device);
  if (same.length) return { machine: ofSize(same, typed.memory), instead: true };
  const near = cardIn(rules, machines, cards, typed);
  if (near) return { machine: near.device, instead: true };
  if (typed.processor && !cards.length)
    return { machine: processorLike(data, text.toLowerCase()), instead: true };
  const memory = cards.length ? null : memoryOf(rules, text);
  const classes = machines.filter(({ kind }) => kind === "memory");
  if (memory === null || leftOver(rules, machines, typed).words.some((word) => /\d/.test(word)))
    return {
      nearest: cards.length ? cards.map(({ device }) => device) : alike(machines, text, NEAREST),
    };
  const machine = ofSize(classes, memory);
  return { machine, instead: machine.memory !== memory };
};

// The listed model that a text means: by its name or, for a size alone, the model that most people
// have reported.
const modelFor = (data, text, typed) => {
  const { rules, models } = data;
  const said = typed ?? parse(rules, text.replace(QUANTISATION, " "));
  const [model] = modelsFor(rules, models, said).models;
  if (model) return { model };
  const words = said.words.filter((word) => !["model", "dense", "moe"].includes(word));
  if (words.length || !said.size) return { nearest: text ? alike(models, text, NEAREST) : [] };
  const { parameters } = said.size;
  const kind = models.filter(
    ({ mixture }) => mixture === (said.active !== null || words.includes("moe")),
  );
  const off = (each) => (parameters ? Math.abs(Math.log(each.parameters / parameters)) : 0);
  const fitting = kind.filter((each) => fitsSize(said.size, each.parameters));
  const sorted = fitting.length
    ? fitting.sort((a, b) => b.people - a.people)
    : kind.sort((a, b) => off(a) - off(b));
  return { model: sorted[0], instead: true };
};

// A machine has rows for the sizes of main memory that decide what fits; each holds up to the next.
const rowFor = ({ answers, columns }, { number }, ram) => {
  const rows = answers.filter(([machine]) => machine === number);
  return rows.findLast((row) => row[columns.indexOf("ram")] <= ram) ?? rows[0];
};

export const answerTo = async (data, { card = "", model = "", task = "all", ram = "" }) => {
  const typed = parse(data.rules, card);
  const found = card.trim() ? machineFor(data, card, typed) : {};
  const left = leftOver(data.rules, data.machines, typed);
  const words = left.words.filter((word) => !Object.hasOwn(data.words.tasks, word));
  const rest =
    card.trim() && (left.size || words.length) ? { ...typed, words, size: left.size } : null;
  const named = model.trim() ? modelFor(data, model) : rest ? modelFor(data, "", rest) : {};
  const question = { card: card.trim(), model: model.trim(), task, found, named };
  if (!found.machine || !named.model) return { question };
  const file = await once(`${data.folder}${named.model.id}.json`);
  const row = rowFor(file, found.machine, Number(ram) || typed.ram || USUAL_RAM_GIB);
  if (!row) return { question };
  const answer = Object.fromEntries(file.columns.map((name, at) => [name, row[at]]));
  for (const name of data.named) answer[name] = file.texts[answer[name]] ?? null;
  return { question, answer };
};

// ---- drawing ----------------------------------------------------------------------------------
const link = (href, text) => Object.assign(el("a", "", text), { href });
export const machineName = ({ label, memory }) =>
  memory && !/\d ?GB/.test(label) ? `${label} ${memory} GB` : label;

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
const place = (strip, { speedup, low, high }) => {
  const [even, at, from, to] = [1, speedup, low, high].map(position);
  const set = (mark, values) => {
    for (const [name, value] of Object.entries(values))
      strip.querySelector(mark).setAttribute(name, `${value}%`);
  };
  set(".b", { x: Math.min(even, at), width: Math.abs(at - even) });
  set(".e", { x1: even, x2: even });
  set(".i", { x1: from, x2: to });
  set(".t", { x1: at, x2: at });
};

const instead = ({ card, model, found, named }) =>
  [
    found.instead ? `“${card}” is answered as ${machineName(found.machine)}` : null,
    named.instead
      ? `${model || "that size"} as ${named.model.label}, the most reported of its size`
      : null,
  ]
    .filter(Boolean)
    .join("; ");

// The words of each slot of the card; a part without words is not drawn.
const slots = (data, question, answer) => {
  const { found, named, task } = question;
  const { fits, baseline_tps: before, tps: after, speedup, low, high } = answer;
  const drawn = fits !== "no" && speedup !== null;
  const wished = data.words.tasks[task];
  const note = wished ? `; over all tasks, not ${wished.label} alone` : "";
  return {
    ...answer,
    asked: machineName(found.machine),
    instead: instead(question),
    before: fits === "no" ? null : rate(before),
    after: drawn ? rate(after) : null,
    speedup: drawn ? times(speedup) : null,
    range: drawn ? `${times(low).slice(0, -1)} to ${times(high)}` : null,
    evidence: answer.evidence + note,
    model: named.model.label,
  };
};

const answered = (data, question, answer) => {
  const card = document.querySelector("#dm-answer").content.firstElementChild.cloneNode(true);
  const words = slots(data, question, answer);
  card.className += ` ${answer.look}`;
  for (const part of card.querySelectorAll("[data-part]"))
    if (!words[part.dataset.part]) part.remove();
  for (const slot of card.querySelectorAll("[data-slot]"))
    slot.textContent = words[slot.dataset.slot];
  for (const button of card.querySelectorAll("[data-copies]"))
    button.addEventListener("click", (event) => copy(event, words[button.dataset.copies]));
  const { address } = question.named.model;
  card.querySelector("[data-link=explore]").href = exploreAddress(data, question);
  if (address) card.querySelector("[data-link=model]").href = data.root + address;
  if (words.after) place(card.querySelector("svg"), answer);
  return card;
};

// ---- what was not understood --------------------------------------------------------------------
const strange = (words, asked, nearest) =>
  el(
    "p",
    "",
    `No ${words} of that name (“${asked}”)`,
    nearest.length
      ? `; nearest: ${[...new Set(nearest.map(({ label }) => label))].slice(0, NEAREST).join(", ")}.`
      : ".",
  );

const unanswered = (data, { card, model, found, named }) => {
  const address = (each) => `${data.root}?${new URLSearchParams({ card, model: each })}#mine`;
  const sizes = EXAMPLES.flatMap((each) => [" · ", link(address(each), each)]).slice(1);
  return el(
    "section",
    "dm-advice dm-answer",
    el("h2", "dm-answer__verdict", "Which machine, which model?"),
    found.nearest ? strange("machine", card, found.nearest) : null,
    named.nearest?.length ? strange("model", model || card, named.nearest) : null,
    found.machine
      ? el("p", "", `Name a model for ${machineName(found.machine)}, or its size: `, ...sizes)
      : el(
          "p",
          "",
          "Name a card such as RTX 4060, a Mac such as M4 Pro 24 GB, or a memory: 12 GB.",
        ),
  );
};

export const exploreAddress = (data, { card, model, task }) => {
  const asked = {
    words: [card, model].filter(Boolean).join(" "),
    task: task === "all" ? "" : task,
  };
  const query = new URLSearchParams(Object.entries(asked).filter(([, value]) => value));
  return `${data.root}explore/${query.size ? `?${query}` : ""}`;
};

export const draw = (data, { question, answer }) =>
  answer ? answered(data, question, answer) : unanswered(data, question);
