// The page "Will it fit?": the memory that a model needs, looked up in the file that Python wrote,
// beside a card's free memory. The script adds four numbers; the planner decides where layers go if
// the model does not fit.

import { load, machineName } from "./answerdata.js";
import { el, read, remember, restore } from "./dom.js";
import { number } from "./say.js";

const FIELDS = ["card", "model", "quantisation", "context", "kv", "draft"];
const PARTS = {
  weights: "Weights",
  cache: "KV cache",
  draft: "draft",
  compute: "compute",
  margin: "margin",
};
const PAUSE_MS = 250;

const gib = (mib) => `${number(mib / 1024, 1)} GiB`;

// ---- the numbers ------------------------------------------------------------------------------
const partsOf = ({ weights, cache, compute, drafts }, { quantisation, context, kv, draft }) => ({
  weights: weights[quantisation],
  cache: cache[kv][context],
  compute: compute[kv][context],
  draft: drafts[draft].mib[kv][context],
  margin: drafts[draft].margin[quantisation],
});
const sum = (parts) => Object.values(parts).reduce((a, b) => a + b, 0);

// The planner's rule: certain to fit with the margin, and barely within the errors.
const EXTENTS = {
  yes: "✓ Fits",
  barely: "◔ Barely fits: close the browser and other programs",
  no: "✕ Does not fit",
};
const extentOf = (model, asked, free) => {
  const parts = partsOf(model, asked);
  const spare = free - sum(parts);
  if (spare >= 0) return "yes";
  const slack = parts.margin + model.drafts[asked.draft].slack[asked.quantisation];
  return spare + slack >= 0 ? "barely" : "no";
};

// ---- drawing ----------------------------------------------------------------------------------
// The parts of the memory that is needed, and how full it makes the card.
const bar = (parts, free) => {
  const shown = Object.entries(PARTS).filter(([kind]) => parts[kind] > 0);
  const words = shown.map(([kind, title]) => `${title} ${gib(parts[kind])}`).join(", ");
  const meter = el("meter", "dm-fit__meter");
  meter.setAttribute("aria-label", `${words}; ${gib(free)} free before loading`);
  Object.assign(meter, { max: free, value: sum(parts) });
  return el("div", "", meter, el("p", "dm-small", `${words}.`));
};

const heading = (text, scope, name = "") => Object.assign(el("th", name, text), { scope });

// Every quantisation with every context: the memory that each needs, and which of them fit.
const grid = (file, model, asked, free) => {
  const contexts = [...file.contexts.keys()].filter((at) => file.contexts[at] <= model.longest);
  const head = contexts.map((at) => heading(number(file.contexts[at], 0), "col", "dm-num"));
  const lines = file.quantisations.map((name, quantisation) => {
    const cells = contexts.map((context) => {
      const cell = { ...asked, quantisation, context };
      const extent = extentOf(model, cell, free);
      const chosen = quantisation === asked.quantisation && context === asked.context;
      const look = `dm-num dm-fit--${extent}${chosen ? " dm-fit--asked" : ""}`;
      return el("td", look, `${EXTENTS[extent][0]} ${number(sum(partsOf(model, cell)) / 1024, 1)}`);
    });
    return el("tr", "", heading(name, "row"), ...cells);
  });
  return el(
    "div",
    "dm-scroll",
    el(
      "table",
      "dm-table dm-fit__grid",
      el("caption", "", "GiB that each quantisation needs, by tokens of context"),
      el("thead", "", el("tr", "", heading("Weights", "col"), ...head)),
      el("tbody", "", ...lines),
    ),
  );
};

// The largest weights that are certain to fit with the requested context.
const certain = (file, model, asked, free) => {
  const fits = (_, quantisation) => extentOf(model, { ...asked, quantisation }, free) === "yes";
  const found = file.quantisations.find(fits) ?? "Only a shorter context";
  return `${found} is certain to fit.`;
};

const planLine = (file, model, { quantisation, context, kv, draft }, machine) => {
  const name = machineName(machine);
  return [
    `python -m harness plan --target ${model.id}:${file.quantisations[quantisation]}`,
    ` --context ${file.contexts[context]}`,
    kv ? ` --kv-type ${file.kv[kv]}` : "",
    draft === "none" ? "" : ` --draft ${model.drafts[draft].name}`,
    machine.kind === "memory" ? ` --vram ${machine.memory}` : ` --gpu "${name}"`,
  ].join("");
};

const LACKS = {
  head: "prediction head of its own",
  model: "usual draft model",
};

const draw = (file, model, wish, machine, page) => {
  const asked = { ...wish, draft: model.drafts[wish.draft] ? wish.draft : "none" };
  const { free } = machine;
  const parts = partsOf(model, asked);
  const extent = extentOf(model, asked, free);
  const name = `${model.label} in ${file.quantisations[asked.quantisation]}`;
  const where = `${machineName(machine)}${page.typed ? `, the match for “${page.typed}”` : ""}`;
  const help = new URLSearchParams({ card: machineName(machine), model: model.label });
  return el(
    "div",
    `dm-advice dm-fit__result dm-fit__result--${extent}`,
    el("p", "dm-advice__figure", el("strong", "", EXTENTS[extent])),
    el(
      "p",
      "",
      `${name} needs ${gib(sum(parts))} with ${number(file.contexts[asked.context], 0)} tokens of ` +
        `context and a margin of ${gib(parts.margin)}. ${where}: about ${gib(free)} free.`,
    ),
    extent === "yes" ? null : el("p", "", certain(file, model, asked, free)),
    asked.draft === wish.draft
      ? null
      : el(
          "p",
          "dm-muted",
          `${model.label} has no ${LACKS[wish.draft]}, so the figures are without a draft.`,
        ),
    bar(parts, free),
    grid(file, model, asked, free),
    el(
      "p",
      "dm-small",
      extent === "no"
        ? "The layers that fit on the card, and the speed with the rest in main memory:"
        : "Plan it with your own file, exactly:",
    ),
    el("pre", "", el("code", "", planLine(file, model, asked, machine))),
    el(
      "p",
      "",
      Object.assign(el("a", "", `Does a draft make ${model.label} faster on it?`), {
        href: `${page.place.root}?${help}#mine`,
      }),
    ),
  );
};

// The machine that a text means. A plain memory, as the page begins with, needs no table of names.
const machineOf = async (page, text) => {
  const { machines } = await page.index;
  const plain = machines.find(({ label, kind }) => kind === "memory" && label === `${text} card`);
  if (plain || !text) return { machine: plain };
  const asked = [load(page.place), import("./listed.js"), import("./names.js")];
  const [data, { machineFor }, names] = await Promise.all(asked);
  return machineFor(data, names.read(data.names, text).machine, text);
};

const update = async (page, form) => {
  const turn = (page.turn += 1);
  const text = form.elements.card.value.trim();
  const [file, { machine, instead }] = await Promise.all([page.file, machineOf(page, text)]);
  if (turn !== page.turn) return;
  const model = file.models.find(({ id }) => id === form.elements.model.value);
  const { quantisation, context, kv, draft } = form.elements;
  const wish = {
    quantisation: quantisation.selectedIndex,
    context: context.selectedIndex,
    kv: kv.selectedIndex,
    draft: draft.value,
  };
  page.typed = instead ? text : null;
  page.out.replaceChildren(
    machine?.free
      ? draw(file, model, wish, machine, page)
      : el(
          "p",
          "dm-advice",
          machine
            ? `${machineName(machine)} is not a single card: “python -m harness plan” divides a model among several cards and main memory.`
            : "Name a card with its memory, such as RTX 4060 8 GB, or the memory alone: 12 GB.",
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
    file: read(place.dataset.needs),
    index: load({ ...place.dataset, names: null }),
    out: place.querySelector("[data-part='answer']"),
  };
  const show = () =>
    update(page, form).catch(
      (error) =>
        (page.out.textContent =
          `The needs of models could not be loaded (${error.message}). The table ` +
          `below has the usual settings.`),
    );
  let timer = null;
  for (const name of FIELDS) form.elements[name].dataset.usual = form.elements[name].value;
  restore(form, FIELDS);
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      remember(form, FIELDS);
      show();
    }, PAUSE_MS);
  });
  page.index.then(({ machines }) =>
    form
      .querySelector("datalist")
      .append(...machines.filter(({ free }) => free).map(({ label }) => new Option(label, label))),
  );
  show();
});
