// The page "Will it fit?": the memory that a model needs, looked up in the file that Python wrote,
// beside a card's free memory. The script adds five numbers; the planner decides where layers go if
// the model does not fit.

import { load, machineName } from "./answerdata.js";
import { el, link, read, remember, restore } from "./dom.js";
import { number } from "./say.js";

const FIELDS = ["card", "model", "quantisation", "context", "kv", "draft"];
const TITLES = { weights: "Weights", cache: "KV cache" };
const EXTENTS = {
  yes: "✓ Fits",
  barely: "◔ Barely fits: close the browser and other programs",
  no: "✕ Does not fit",
};
const LACKS = { head: "prediction head of its own", model: "usual draft model" };

const gib = (mib) => `${number(mib / 1024, 1)} GiB`;
const heading = (text, scope, className = "") => el("th", { className, scope }, text);

// The parts of the memory that is needed, and the planner's rule: certain to fit with the margin,
// and barely within the errors.
const needOf = ({ weights, cache, compute, drafts }, asked, free) => {
  const { quantisation, context, kv, draft } = asked;
  const parts = {
    weights: weights[quantisation],
    cache: cache[kv][context],
    draft: drafts[draft].mib[kv][context],
    compute: compute[kv][context],
    margin: drafts[draft].margin[quantisation],
  };
  const most = Object.values(parts).reduce((a, b) => a + b, 0);
  const least = most - parts.margin - drafts[draft].slack[quantisation];
  return { parts, most, extent: free >= most ? "yes" : free >= least ? "barely" : "no" };
};

// The parts of the memory that is needed, and how full it makes the card.
const bar = ({ parts, most }, free) => {
  const shown = Object.entries(parts).filter(([, mib]) => mib > 0);
  const words = shown.map(([kind, mib]) => `${TITLES[kind] ?? kind} ${gib(mib)}`).join(", ");
  const meter = el("meter", "dm-fit__meter");
  meter.setAttribute("aria-label", `${words}; ${gib(free)} free before loading`);
  Object.assign(meter, { max: free, value: most });
  return el("div", "", meter, el("p", "dm-small", `${words}.`));
};

// Every quantisation with every context: the memory that each needs, and which of them fit.
const grid = (file, model, asked, free) => {
  const contexts = [...file.contexts.keys()].filter((at) => file.contexts[at] <= model.longest);
  const head = contexts.map((at) => heading(number(file.contexts[at], 0), "col", "dm-num"));
  const lines = file.quantisations.map((name, quantisation) => {
    const cells = contexts.map((context) => {
      const { most, extent } = needOf(model, { ...asked, quantisation, context }, free);
      const chosen = quantisation === asked.quantisation && context === asked.context;
      const look = `dm-num dm-fit--${extent}${chosen ? " dm-fit--asked" : ""}`;
      return el("td", look, `${EXTENTS[extent][0]} ${number(most / 1024, 1)}`);
    });
    return el("tr", "", heading(name, "row"), ...cells);
  });
  const table = el(
    "table",
    "dm-table dm-fit__grid",
    el("caption", "", "GiB that each quantisation needs, by tokens of context"),
    el("thead", "", el("tr", "", heading("Weights", "col"), ...head)),
    el("tbody", "", ...lines),
  );
  return el("div", "dm-scroll", table);
};

const planLine = (file, model, { quantisation, context, kv, draft }, machine) =>
  [
    `python -m harness plan --target ${model.id}:${file.quantisations[quantisation]}`,
    ` --context ${file.contexts[context]}`,
    kv ? ` --kv-type ${file.kv[kv]}` : "",
    draft === "none" ? "" : ` --draft ${model.drafts[draft].name}`,
    machine.kind === "memory" ? ` --vram ${machine.memory}` : ` --gpu "${machineName(machine)}"`,
  ].join("");

const draw = (file, model, wish, machine, { place, typed }) => {
  const asked = { ...wish, draft: model.drafts[wish.draft] ? wish.draft : "none" };
  const { free } = machine;
  const need = needOf(model, asked, free);
  const card = machineName(machine);
  const isSure = (_, quantisation) =>
    needOf(model, { ...asked, quantisation }, free).extent === "yes";
  const sure = file.quantisations.find(isSure) ?? "Only a shorter context";
  const question = `${place.root}?${new URLSearchParams({ card, model: model.label })}#mine`;
  const asks =
    `${model.label} in ${file.quantisations[asked.quantisation]} needs ${gib(need.most)} with ` +
    `${number(file.contexts[asked.context], 0)} tokens of context and a margin of ` +
    `${gib(need.parts.margin)}. ${card}${typed ? `, the match for “${typed}”` : ""}: about ` +
    `${gib(free)} free.`;
  const lack = `${model.label} has no ${LACKS[wish.draft]}, so the figures are without a draft.`;
  return el(
    "div",
    `dm-advice dm-fit__result dm-fit__result--${need.extent}`,
    el("p", "dm-advice__figure", el("strong", "", EXTENTS[need.extent])),
    el("p", "", asks),
    need.extent === "yes" ? null : el("p", "", `${sure} is certain to fit.`),
    asked.draft === wish.draft ? null : el("p", "dm-muted", lack),
    bar(need, free),
    grid(file, model, asked, free),
    el("p", "dm-small", "Plan it with your own file: the layers that fit, and the speed:"),
    el("pre", "", el("code", "", planLine(file, model, asked, machine))),
    el("p", "", link(question, `Does a draft make ${model.label} faster on it?`)),
  );
};

// The machine that a text means. A plain memory, as the page begins with, needs no table of names.
const machineOf = async ({ index, place }, text) => {
  const { machines } = await index;
  const plain = machines.find(({ label, kind }) => kind === "memory" && label === `${text} card`);
  if (plain || !text) return { machine: plain };
  const asked = [load(place), import("./listed.js"), import("./names.js")];
  const [data, { machineFor }, names] = await Promise.all(asked);
  return machineFor(data, names.read(data.names, text).machine, text);
};

const answerTo = async (page, { card, model, quantisation, context, kv, draft }) => {
  const text = card.value.trim();
  const [file, { machine, instead }] = await Promise.all([page.file, machineOf(page, text)]);
  if (!machine)
    return "Name a card with its memory, such as RTX 4060 8 GB, or the memory alone: 12 GB.";
  if (!machine.free)
    return `${machineName(machine)} is not a single card: “python -m harness plan” divides a model among several cards and main memory.`;
  const wish = {
    quantisation: quantisation.selectedIndex,
    context: context.selectedIndex,
    kv: kv.selectedIndex,
    draft: draft.value,
  };
  const chosen = file.models.find(({ id }) => id === model.value);
  return draw(file, chosen, wish, machine, { ...page, typed: instead && text });
};

document$.subscribe(() => {
  const place = document.querySelector(".dm-fit:not([data-state])");
  if (!place) return;
  place.dataset.state = "ready";
  const form = place.querySelector("form");
  const out = place.querySelector("[data-part='answer']");
  const index = load({ ...place.dataset, names: null });
  const page = { place: place.dataset, file: read(place.dataset.needs), index };
  let turn = 0;
  const show = async () => {
    const own = ++turn;
    const found = await answerTo(page, form.elements).catch(
      ({ message }) =>
        `The needs of models could not be loaded (${message}). The table below has the usual settings.`,
    );
    if (own !== turn) return;
    out.replaceChildren(typeof found === "string" ? el("p", "dm-advice", found) : found);
    out.dataset.state = "answered";
  };
  for (const name of FIELDS) form.elements[name].dataset.usual = form.elements[name].value;
  restore(form, FIELDS);
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    remember(form, FIELDS);
    show();
  });
  index.then(({ machines }) =>
    form
      .querySelector("datalist")
      .append(...machines.filter(({ free }) => free).map(({ label }) => new Option(label, label))),
  );
  show();
});
