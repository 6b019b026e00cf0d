// The page "Will it fit?": a memory and a model become two bars, a table, a sentence and commands.
"use strict";

import { devicesFor, isCard, memoryOf, parse } from "./matching.js";
import { alternatives, gib, modelOf, plan, total, verdict } from "./plan.js";
import { number, times } from "./say.js";

const FIELDS = ["card", "model", "quantisation", "context", "kv", "draft", "ram"];
const MEMORY_ONLY = /^\s*\d+(\.\d+)?\s*(g|gb|gib)?\s*$/i;
const PAUSE_MS = 250;

const read = async (url) => {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return answer.json();
};

const el = (tag, name, ...children) => {
  const node = document.createElement(tag);
  if (name) node.className = name;
  node.append(...children.filter((child) => child !== null));
  return node;
};

// ---- what was asked ---------------------------------------------------------------------------
// The listed machines, loaded once somebody names one.
const namesOf = async (page) => {
  const { load } = await import("./answer.js");
  return load(page.place);
};

// The memory that a text means, and the card's bandwidth where it names one that is known.
const cardOf = async (page, text) => {
  if (MEMORY_ONLY.test(text))
    return { memory: Number.parseFloat(text), bandwidth: null, label: null, shared: null };
  const { rules, machines } = await namesOf(page);
  const found = devicesFor(rules, machines, text).filter(isCard)[0]?.device;
  const said = parse(rules, text).memory;
  return {
    memory: said ?? found?.memory ?? memoryOf(rules, text),
    bandwidth: found?.bandwidth ?? null,
    label: found?.label ?? null,
    shared: found?.shared ? found.label : null,
  };
};

const wishOf = (form) => ({
  model: form.elements.model.value,
  quantisation: form.elements.quantisation.value,
  context: Number(form.elements.context.value),
  kv: form.elements.kv.value,
  draft: form.elements.draft.value,
  ram: Number(form.elements.ram.value),
});

const remember = (form) => {
  const found = new URLSearchParams(location.search);
  for (const name of FIELDS) {
    const { value, dataset } = form.elements[name];
    if (value !== dataset.usual) found.set(name, value);
    else found.delete(name);
  }
  const text = String(found);
  history.replaceState(
    history.state,
    "",
    `${location.pathname}${text ? `?${text}` : ""}${location.hash}`,
  );
};

const restore = (form) => {
  const found = new URLSearchParams(location.search);
  for (const name of FIELDS) {
    const field = form.elements[name];
    field.dataset.usual = field.value;
    if (!found.has(name)) continue;
    const value = found.get(name).slice(0, 120);
    if (!field.options || [...field.options].some((option) => option.value === value))
      field.value = value; // only what is offered
  }
};

// ---- the answer -------------------------------------------------------------------------------
const bar = (file, title, buffers, room, margin) => {
  const used = total(buffers);
  const scale = Math.max(used, room, 1);
  const parts = Object.entries(buffers).filter(([, mib]) => mib > 0);
  const words = parts.map(([kind, mib]) => `${file.kinds[kind]} ${gib(mib)}`).join(", ");
  const line = el("div", "dm-fit__bar");
  line.setAttribute("role", "img");
  line.setAttribute(
    "aria-label",
    `${title}: ${words || "nothing"}; ${gib(room)} free before loading`,
  );
  for (const [kind, mib] of parts) {
    const part = el(
      "span",
      `dm-fit__part dm-fit__part--${kind.replace("draft_", "draft dm-fit__part--")}`,
    );
    part.style.width = `${(mib / scale) * 100}%`;
    part.title = `${file.kinds[kind]}: ${gib(mib)}`;
    line.append(part);
  }
  if (used > room)
    line.append(
      Object.assign(el("span", "dm-fit__limit"), {
        style: `left:${(room / scale) * 100}%`,
        title: `${gib(room)} free`,
      }),
    );
  else if (margin)
    line.append(
      Object.assign(el("span", "dm-fit__margin"), {
        style: `left:${((room - margin) / scale) * 100}%`,
        title: `margin of ${gib(margin)}`,
      }),
    );
  return el(
    "div",
    "dm-fit__place",
    el("p", "dm-fit__title", el("strong", "", title), ` ${gib(used)} of ${gib(room)}`),
    line,
  );
};

const table = (file, found) => {
  const kinds = Object.keys(file.kinds).filter(
    (kind) => found.device[kind] > 0 || found.host[kind] > 0,
  );
  const cell = (mib) => el("td", "dm-num", mib > 0 ? number(mib, 0) : "–");
  const rows = kinds.map((kind) => {
    const name = el(
      "th",
      "",
      el("span", `dm-fit__key dm-fit__part--${kind.replace("draft_", "draft dm-fit__part--")}`),
      file.kinds[kind],
    );
    name.scope = "row";
    return el("tr", "", name, cell(found.device[kind]), cell(found.host[kind]));
  });
  const sum = el("th", "", "Total");
  sum.scope = "row";
  rows.push(el("tr", "dm-fit__sum", sum, cell(total(found.device)), cell(total(found.host))));
  const head = el(
    "tr",
    "",
    ...["MiB", "Card", "Main memory"].map((words, at) =>
      Object.assign(el("th", at ? "dm-num" : "", words), { scope: "col" }),
    ),
  );
  return el("table", "dm-table dm-fit__kinds", el("thead", "", head), el("tbody", "", ...rows));
};

const facts = (file, found, card) => {
  const { layers, whole, experts, alone, contextMax, tps, asked, model } = found;
  const drafting =
    asked.draft !== "none" && (asked.draft === "head" ? model.head > 0 : model.draft !== null);
  const items = [];
  const add = (name, value) => items.push(el("div", "", el("dt", "", name), el("dd", "", value)));
  add(
    "Layers on the card",
    `${layers} of ${whole}` +
      (experts && layers ? `, experts of ${experts} in main memory` : "") +
      (drafting ? ` (${alone.layers} without the draft)` : ""),
  );
  add("Largest context that fits", contextMax ? `${number(contextMax, 0)} tokens` : "none");
  const assumed = `${number(file.rules.bandwidth, 0)} GB/s assumed`;
  add(
    "Plain speed, no draft",
    `about ${number(tps.estimate, 0)} tokens/s [${number(tps.low, 0)}, ` +
      `${number(tps.high, 0)}]${card.bandwidth || !alone.layers ? "" : ` (${assumed})`}`,
  );
  add(
    "Bandwidth",
    card.bandwidth
      ? `${number(card.bandwidth, 0)} GB/s (${card.label})`
      : `${assumed}: name your card`,
  );
  if (file.own_error)
    items.push(
      el("div", "dm-fit__error", el("dt", "", "How far off"), el("dd", "", file.own_error)),
    );
  return el("dl", "dm-fit__facts", ...items);
};

const others = (file, found) => {
  const { memory, listed } = alternatives(file, found.model, found.asked);
  if (!listed.length) return null;
  const items = listed.map(({ words, ratio, range }) =>
    el("li", "", el("strong", "", times(ratio)), ` ${range}${words}`),
  );
  return el(
    "div",
    "",
    el("h3", "", "What else the same memory could do"),
    el(
      "p",
      "dm-small dm-muted",
      `Predicted times of the plain speed of ${found.model.label} in ${file.usual.quantisation} ` +
        `at ${number(file.usual.context, 0)} tokens on ${memory} GB at 400 GB/s; nobody has ` +
        `measured these here.`,
    ),
    el("ul", "dm-fit__others", ...items),
  );
};

const command = (words, line) =>
  el("div", "dm-advice__command", el("p", "dm-small", words), el("pre", "", el("code", "", line)));

const note = ({ asked, model }) => {
  if (asked.draft === "head" && !model.head)
    return `${model.label} has no prediction head of its own, so this is without a draft.`;
  if (asked.draft === "model" && !model.draft)
    return (
      `The table knows no much smaller model of the same family as ${model.label}, so this ` +
      `is without a draft.`
    );
  return null;
};

const draw = (file, found, card) => {
  const { kind, words, text } = verdict(found);
  const missing = note(found);
  const places = el(
    "div",
    "dm-fit__places",
    bar(
      file,
      card.label ?? `Card with ${found.asked.memory} GB`,
      found.device,
      found.free,
      file.rules.margin,
    ),
    bar(file, `Main memory, ${found.asked.ram} GB`, found.host, found.hostFree, 0),
  );
  return el(
    "div",
    `dm-advice dm-fit__result dm-fit__result--${kind}`,
    el("p", "dm-advice__figure", el("strong", "", words)),
    el("p", "", text),
    missing && el("p", "dm-muted", missing),
    places,
    el(
      "div",
      "dm-fit__columns",
      table(file, found),
      el("div", "", facts(file, found, card), others(file, found)),
    ),
    found.fits ? command("Run it:", found.command) : null,
    command("Plan it with your own file, exactly:", found.planLine),
  );
};

const update = async (page, form) => {
  const turn = (page.turn += 1);
  const [file, card] = await Promise.all([page.file, cardOf(page, form.elements.card.value)]);
  if (turn !== page.turn) return;
  const wish = wishOf(form);
  if (!card.memory)
    page.out.replaceChildren(
      el(
        "p",
        "dm-advice",
        card.label
          ? `How much memory does your ${card.label} have? Add it, such as ` +
              `“${form.elements.card.value.trim()} 12 GB”.`
          : "Name a card with its memory, such as RTX 4060 8 GB, or the memory alone: 12 GB.",
      ),
    );
  else
    page.out.replaceChildren(
      draw(
        file,
        plan(file, modelOf(file, wish.model), {
          ...wish,
          ...(card.shared ? { ram: card.memory } : {}),
          memory: card.memory,
          shared: card.shared,
          bandwidth: card.bandwidth,
        }),
        card,
      ),
    );
  page.out.dataset.state = "answered";
};

document$.subscribe(() => {
  const place = document.querySelector(".dm-fit:not([data-state])");
  if (!place) return;
  place.dataset.state = "ready";
  const form = place.querySelector("form");
  const page = {
    place: place.dataset,
    turn: 0,
    file: read(place.dataset.plan),
    out: place.querySelector("[data-part='answer']"),
  };
  const show = () =>
    update(page, form).catch(
      (error) =>
        (page.out.textContent =
          `The plan could not be loaded (${error.message}). The table ` +
          `below has the usual settings.`),
    );
  let timer = null;
  restore(form);
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", () => {
    remember(form);
    show();
  });
  form.elements.card.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      remember(form);
      show();
    }, PAUSE_MS);
  });
  form.elements.card.addEventListener(
    "focus",
    async () => {
      const list = form.querySelector("datalist");
      const { machines } = await namesOf(page);
      if (!list.options.length)
        list.append(...machines.map(({ label }) => new Option(label, label)));
    },
    { once: true },
  );
  show();
});
