// An answer about a visitor's machine as a piece of a page: the figure with its tier, interval and
// source, what the memory holds and allows, the commands, the nearest figures. Text nodes only.
"use strict";

import { modelsFor, parse } from "./matching.js";
import { alternatives, largest, modelFor, plan, verdict } from "./plan.js";
import { asks, decode, reply, understand } from "./reply.js";
import { count, interval, number, percent, times, withArticle } from "./say.js";

const ALL = "all";
const GAIN = 1.05; // an alternative that is worth a line

const read = async (url) => {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return answer.json();
};

// Everything that answers need, loaded once; what the advisor was fitted to comes when it is asked.
const loaded = new Map();
export const load = ({ machine, vocabulary, root }) => {
  if (!loaded.has(machine)) {
    const files = Promise.all([read(machine), read(vocabulary)]);
    loaded.set(machine, files.then(([file, words]) => ({ ...decode(file, words), root })));
  }
  return loaded.get(machine);
};

export const answerTo = async (data, asked) => {
  const question = understand(data, asked);
  if (!asks(question)) return { question, nothing: true };
  if (question.size || question.models.length || question.typed.model) data.plans ??= read(data.root + data.plan);
  const plans = (await data.plans) ?? null;
  const first = reply(data, null, question, plans);
  const room = await planned(data, first.question, first.found?.row.model.label);
  if (first.found || !data.knowledge) return { ...first, room };
  data.known ??= read(data.root + data.knowledge);
  return { ...reply(data, await data.known, question, plans), room };
};

// The planner's answer where memory and model are known; its file comes with the first such question.
const planned = async (data, question, answered) => {
  const { devices, memory, models, size, typed, processor } = question;
  if (memory === null || (!size && !models.length) || processor) return null;
  data.plans ??= read(data.root + data.plan);
  const file = await data.plans;
  const named = typed.model ? modelsFor(data.rules, file.models, typed.model).models[0] : null;
  const model = modelFor(file, question, named, answered);
  const bandwidth = devices.find((each) => each.bandwidth !== null)?.bandwidth ?? null;
  const known = named ?? models.find((each) => each.plan);
  return model && { file, instead: known || !parse(data.rules, typed.model).words.length ? null : typed.model, ...plan(file, model, { memory, bandwidth }) };
};

// ---- parts ------------------------------------------------------------------------------------
const el = (tag, name, ...children) => {
  const node = document.createElement(tag);
  if (name) node.className = name;
  node.append(...children.filter((child) => child !== null && child !== ""));
  return node;
};
const link = (href, text) => Object.assign(el("a", "", text), { href });
const tierPill = (tier) => el("span", `dm-verdict dm-tier dm-tier--${tier}`, tier);
const verdictPill = (words, name) => (Object.hasOwn(words.verdicts, name ?? "") ? el("span", `dm-verdict dm-verdict--${name}`, `${words.verdicts[name].sign} ${words.verdicts[name].word}`) : null);
// A figure over a suite’s own tasks is that of one file, any other that of a cell.
const range = (row) => (row.interval_low === null ? null : el("span", "dm-interval", `${interval(row.interval_low, row.interval_high)} ${row.own_tasks ? "this" : "another"} machine`));

const taskWords = (words, row) => {
  if (Object.hasOwn(words.tasks, row.task)) return `on the task ${words.tasks[row.task].label}`;
  if (row.own_tasks) return "over the source’s own tasks";
  return row.tier === "published" ? "on its author’s prompts" : "over all tasks";
};

const place = (data, row) => [row.device.address ? link(data.root + row.device.address, row.device.label) : row.device.label, ` (${row.backend})`];
const setup = (data, row) => [...place(data, row), ` with ${row.model.label}${row.quantisation ? ` ${row.quantisation}` : ""}, ${row.setting.label}`];

const credit = (data, row) => {
  const line = el("p", "dm-soft dm-small", "Source: ");
  const source = data.sources[row.source];
  if (source) {
    line.append(link(`${data.root}sources/#${row.source}`, source.title), source.author ? ` by ${source.author}` : "", source.licence ? `, ${source.licence}` : ", no licence stated");
    if (row.contributor) line.append(`, row by ${row.contributor}`);
    line.append(" · ");
  }
  line.append(link(data.root + row.evidence, row.tier === "published" ? "the printed figures" : "its raw trials"));
  return line;
};

const copied = (text) => {
  const button = Object.assign(el("button", "dm-copy", "Copy"), { type: "button" });
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Select the line to copy it";
    }
  });
  return button;
};

const command = (words, line) => el("div", "dm-advice__command", el("p", "dm-small", words, " ", copied(line)), el("pre", "", el("code", "", line)));

// ---- sentences --------------------------------------------------------------------------------
const asked = ({ devices, likely, memory, size, models, typed, processor }) => {
  const card = processor && !devices.length ? "a processor" : devices[0]?.label ?? (typed.card && (likely.length || memory === null) ? typed.card : memory === null ? "" : `a card with ${memory} GB`);
  const model = models[0]?.label ?? (size ? sizeWords(size) : "");
  return [model, card].filter(Boolean).join(" on ");
};
const sizeOf = (parameters) => `${Number((parameters / 1e9).toFixed(3))}B`;
const sizeWords = ({ parameters, from, below }) => (parameters ? withArticle(`${sizeOf(parameters)} model`) : below ? `a model of ${sizeOf(from)} to ${sizeOf(below)}` : `a model above ${sizeOf(from)}`);

// Several published figures have no order that an interval would back: all of them are the answer.
const headline = (data, { found }) => {
  const { row, settings, least, most } = found;
  const several = row.tier === "published" && settings > 1;
  const figure = several ? `${times(least)} to ${times(most)}` : row.at_least === null ? times(row.speedup) : `at least ${times(row.at_least)}`;
  return el("p", "dm-advice__figure", el("strong", "", figure), " ", several || row.at_least !== null ? null : range(row), " ", verdictPill(data.words, row.verdict), " ", tierPill(row.tier));
};

const spread = ({ row, settings, least, most, models }) => {
  if (settings === 1) return "";
  const over = models > 1 ? ` with ${count(models, "model")}` : "";
  if (row.tier !== "published") return ` Best of ${count(settings, "setting")}${over}, which run from ${times(least)} to ${times(most)}; the bound allows for the choice.`;
  return ` ${count(settings, "printed figure")}${over}, none with an interval; this one is ${times(row.speedup)}.`;
};

// What a bound comes from, and the whole request.
const measured = (row) => {
  const figure = row.at_least === null ? "" : ` Measured was ${times(row.speedup)}.`;
  return `${figure} ${row.stated_request === null ? "Its prompt time was not recorded." : `With 256 tokens of answer, prompt included: ${times(row.stated_request)}.`}`;
};

const direct = (data, answer) => {
  const { row } = answer.found;
  const text = el("p", "", ...setup(data, row), `, ${taskWords(data.words, row)}.`, measured(row), spread(answer.found));
  if (!answer.exact) text.append(" Not your model itself: one of about its size.");
  if (answer.question.task !== ALL && row.task !== answer.question.task) text.append(" There is no figure for that task alone.");
  return [headline(data, answer), text, credit(data, row)];
};

const predicted = (data, { prediction, question }) => {
  const { speedup, low, high, choice, task, backend, cost, gain, error, anyError } = prediction;
  const off = error ?? anyError;
  const how = [choice.label, choice.depth === null ? null : `depth ${choice.depth}`, choice.draft_label].filter(Boolean).join(" · ");
  const bounds = low === null ? "without an interval: too few machines" : "the interval is a forecast for one more machine";
  const past = off ? ` Such predictions were off by ${percent(off.median_error, 1)} in the median.` : " How far such predictions are off is not known yet.";
  return [
    el("p", "dm-advice__figure", el("strong", "", `≈ ${times(speedup)}`), " ", low === null ? null : el("span", "dm-interval", interval(low, high)), " ", tierPill("predicted")),
    el("p", "", `Not measured by anybody. Predicted for ${asked(question)} through ${backend}, ${how}, on the task ${data.words.tasks[task].label}, from ${count(cost.pool.votes, "machine")} for the cost of a round and ${count(gain.pool.votes, "machine")} for its tokens; ${bounds}.${past}`),
  ];
};

const without = (data, { question, close }) => [
  el("p", "dm-advice__figure", el("strong", "", "No figure yet"), ` for ${asked(question) || "this"}`),
  el("p", "", close.length ? "Nobody has measured or published this, and too little is known to predict it. The nearest figures, each of another machine or model:" : "Nobody has measured or published this yet."),
];

// A mixture of experts and a dense model are never each other's nearest figure without a word.
const kindWords = ({ mixture }, model) => (mixture === null || mixture === undefined || mixture === model.mixture ? "" : model.mixture ? " (a mixture of experts)" : " (a dense model)");

const nearest = (data, question, rows) => el("ul", "dm-advice__links", ...rows.map((row) => el("li", "", el("strong", "", times(row.speedup)), " ", range(row), " ", tierPill(row.tier), " ", ...setup(data, row), `${kindWords(question, row.model)}, ${taskWords(data.words, row)} (`, link(data.root + row.evidence, "source"), ")")));

const FIT = {
  yes: (memory) => `, which fit into ${memory} GB with room for the context and a draft. `,
  tight: (memory) => `, which barely fit into ${memory} GB: little is left for the context, and a draft may push layers out. `,
  no: (memory) => `, which do not fit into ${memory} GB: layers in main memory are many times slower. `,
};

// Whether it fits, by the planner, and what else the memory could hold.
const roomWords = (data, room, named = true) => {
  const { kind, words, text } = verdict(room);
  const { asked, contextMax, file, instead, model } = room;
  const query = `?${new URLSearchParams({ card: `${asked.memory} GB`, model: model.id })}`;
  const line = el("p", "dm-small dm-advice__limit", named ? el("strong", "", `${words}: `) : null, text, instead ? ` (The planner does not know ${instead} by name; this is its nearest.)` : "");
  line.append(` That is with ${number(asked.context, 0)} tokens of context and no draft`, contextMax && kind !== "no" ? `; the largest that fits is ${number(contextMax, 0)}. ` : ". ");
  const biggest = kind === "no" ? largest(file, { memory: asked.memory }) : null;
  if (kind === "no") line.append(biggest ? `The largest model of the planner’s list that lies on it as a whole is ${biggest.label}. ` : "No model of the planner’s list lies on it as a whole. ");
  line.append(link(`${data.root}will-it-fit/${query}`, "With another context, cache or draft"), ".");
  const off = file.own_error ? [el("details", "dm-more", el("summary", "", "How far off the planner has been"), el("p", "dm-small", `${file.own_error}.`))] : [];
  const better = alternatives(file, model, asked.memory).listed.filter(({ ratio }) => ratio >= GAIN);
  if (!better.length) return [line, ...off];
  const items = better.map((each) => el("li", "", el("strong", "", `≈ ${times(each.ratio)}`), ` ${each.range}${each.words}`));
  return [line, ...off, el("details", "dm-more", el("summary", "", "What else the same memory could do, predicted"), el("ul", "dm-advice__links", ...items))];
};

// For the advisor: the same, as a warning where it does not fit.
export const fitFor = async (place, asked) => {
  const data = await load(place);
  const room = await planned(data, understand(data, asked));
  if (!room) return null;
  const refused = verdict(room).kind === "no";
  return { refused, node: el("div", refused ? "dm-advice dm-fit__result--no" : "", ...roomWords(data, room)) };
};

const limit = ({ limits, question, room }) => {
  const { device, memory, bandwidth, parameters, gib, quantisation, bits, fit, tps } = limits;
  const { processor } = question;
  const parts = [];
  if (gib !== undefined && !room) {
    parts.push(`${sizeOf(parameters)} parameters in ${quantisation} (${number(bits, 1)} bits each) are about ${number(gib)} GiB of weights`);
    parts.push(fit ? FIT[fit](memory) : processor ? "; name the main memory, such as 32 GB, to see whether they fit. " : "; add the memory, such as 12 GB, to see whether they fit. ");
  }
  const name = device && question.said !== null && device.memory === null ? `${device.label} with ${question.said} GB` : device?.label;
  if (tps) parts.push(`${name} reads ${number(bandwidth, 0)} GB/s, so without speculation ${question.bySize ? "a dense model of that size" : "this model"} in ${quantisation} makes no more than ${number(tps, 0)} tokens/s.`);
  else if (bandwidth) parts.push(`${name} reads ${number(bandwidth, 0)} GB/s; name a size of model, such as 14B, to see its limit in tokens/s.`);
  return parts.length ? el("p", "dm-small dm-advice__limit", el("strong", "", room ? "Limit: " : "Fit and limit: "), ...parts) : null;
};

// ---- the whole --------------------------------------------------------------------------------
const query = (entries) => {
  const found = new URLSearchParams(Object.entries(entries).filter(([, value]) => value !== null && value !== undefined && value !== ""));
  return found.size ? `?${found}` : "";
};

// Where the answer goes on, each address with what was asked.
export const onward = (data, { question }) => {
  const { devices, models, memory, typed, task, size } = question;
  const only = task === ALL ? null : task;
  const order = size ? data.sizes.findIndex((each) => each.unknown || each.below === null || (size.parameters ?? size.from) < each.below) : null;
  const known = devices.find((each) => each.address);
  const card = known ? `device:${known.id}` : memory === null ? null : `memory:${memory}`;
  return {
    explore: `${data.root}explore/${query({ words: [typed.card, typed.model].filter(Boolean).join(" "), task: only })}`,
    advisor: `${data.root}advisor/${query({ device: card, model: order, task: only })}`,
    pages: [known, models[0]].filter(Boolean).map((each) => [data.root + each.address, each.label]),
  };
};

const more = (data, answer) => {
  const { explore, advisor, pages } = onward(data, answer);
  const line = el("p", "dm-small dm-advice__more", link(explore, "All figures in Explore"), " · ", link(advisor, "What to expect: Advisor"));
  for (const [address, label] of pages) line.append(" · ", link(address, `All about ${label}`));
  return line;
};

const unknown = (data, { question }) => {
  const words = [question.typed.card, question.typed.model].filter(Boolean).join(" ");
  const all = [link(`${data.root}devices/`, "all devices"), ", ", link(`${data.root}models/`, "all models")];
  return el("div", "dm-advice", el("p", "", words ? `“${words}” is not a card, memory or model that this site knows. Name the memory of the card instead, such as 12 GB, and the size of the model, such as 14B: ` : "Name a card or its memory, and a model or its size: ", ...all, "."), command("Measure it on yours:", data.measure));
};

// Nobody has a figure, and the memory cannot hold it: that is the answer.
const refusal = (data, answer) => {
  const { words } = verdict(answer.room);
  const card = el("div", "dm-advice dm-fit__result--no", el("p", "dm-advice__figure", el("strong", "", words), `: ${asked(answer.question)}`), ...roomWords(data, answer.room, false));
  if (answer.close.length) card.append(el("details", "dm-more", el("summary", "", "The nearest figures of other machines and models"), nearest(data, answer.question, answer.close)));
  card.append(more(data, answer));
  return card;
};

// Why there is no line to run what was found.
const REASON = {
  model: ({ model }) => `That setting is for ${model.label}: its draft or its heads do not serve another model.`,
  memory: () => "That setting does not fit into this memory.",
  plain: (row) => `Plain ${row.other_engine} is faster here: ${number(row.other_tps)} tokens/s without speculation are more than this setting makes with it.`,
  slower: () => "Nothing that was tried is clearly faster here: leave speculation off.",
  engine: () => "It was run with another engine or method than llama.cpp’s server has, so there is no line for that.",
};

export const draw = (data, answer) => {
  if (answer.nothing) return unknown(data, answer);
  const { found, prediction, close, commands, shown } = answer;
  const refused = !found && answer.room && verdict(answer.room).kind === "no";
  if (refused) return refusal(data, answer);
  const first = found ? direct(data, answer) : prediction ? predicted(data, answer) : without(data, answer);
  const card = el("div", "dm-advice", ...first);
  if (!found && close.length) card.append(nearest(data, answer.question, close));
  if (answer.room) card.append(...roomWords(data, answer.room));
  const limits = limit(answer);
  if (limits) card.append(limits);
  const whose = found ? "Run it:" : `Run the setting of a figure above (${shown?.device.label}, ${shown?.model.label}):`;
  if (commands.use) card.append(command(whose, commands.use), el("p", "dm-small", commands.note ?? ""));
  else if (found) card.append(el("p", "dm-small", REASON[commands.why](found.row)));
  card.append(command("Measure it on yours:", commands.measure));
  if (found && close.length) card.append(el("details", "dm-more", el("summary", "", "The nearest other figures"), nearest(data, answer.question, close)));
  card.append(el("p", "dm-soft dm-small", "File names are stand-ins for your own weights."), more(data, answer));
  return card;
};
