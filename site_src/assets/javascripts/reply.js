// What is known for a visitor's machine: figures for it, tier by tier, else what to expect and the
// nearest figures, always what its memory holds and allows, and the commands. Data only, no page.
"use strict";

import { answers, judged } from "./arithmetic.js";
import { chips, classOf, devicesFor, fitsSize, isCard, leftOver, memoryOf, modelsFor, parse, sameSize } from "./matching.js";

const ALL = "all";
const TIERS = ["measured", "imported", "published"];
const FILE = "TARGET.gguf"; // what the commands call the visitor's model
const GIB = 2 ** 30;
const COMFORTABLE_SHARE = 0.9; // of a memory; the rest is for the context and the system
const NEAREST = 3;
// How far a figure is from the question: another card of the same chip, the same memory, one twice
// as large; the same class of models, one twice as large; another task.
const FAR = { chip: 1, memory: 2, twice: 3, unknown: 5, processor: 4, class: 0.5, otherClass: 2.5, double: 1.5, task: 0.25 };

// Rows as objects, made once per file.
export const decode = (file, words) => ({
  ...file,
  rules: words.spellings,
  words,
  sizes: Object.values(words.sizes),
  rows: file.rows.map((row) => {
    const found = Object.fromEntries(file.columns.map((name, at) => [name, row[at]]));
    return { ...found, device: file.devices[found.device], model: file.models[found.model], setting: { ...file.settings[found.setting], number: found.setting }, settings: found.settings };
  }),
});

// ---- the question -----------------------------------------------------------------------------
// What was typed for the card, the model and the task, understood as far as it can be.
export const understand = (data, { card = "", model = "", task = ALL }) => {
  const { rules, devices, models, sizes } = data;
  const typed = parse(rules, card);
  const found = devicesFor(rules, devices, card);
  const cards = found.filter(isCard);
  const least = cards.length ? cards[0].cost : null;
  const chosen = cards.filter(({ cost }) => cost - least < 1).map(({ device }) => device);
  // A text that names all at once: "4060 qwen3 8b code".
  const left = leftOver(rules, devices, typed);
  const size = parse(rules, model).size ?? left.size;
  const wanted = modelsFor(rules, models, model || { ...left, words: left.words.filter((word) => !Object.hasOwn(data.words.tasks, word)) }).models;
  const named = Object.hasOwn(data.words.tasks, task) ? task : left.words.find((word) => Object.hasOwn(data.words.tasks, word));
  const memory = chosen.length || found.length ? typed.memory : memoryOf(rules, card);
  const processor = chosen.length ? chosen[0].kind !== "gpu" : typed.processor && !found.length;
  return {
    processor,
    devices: chosen,
    likely: chosen.length ? [] : found.slice(0, NEAREST).map(({ device }) => device),
    anywhere: !typed.words.length && typed.memory === null && memory === null,
    memory: memory ?? chosen.map((device) => device.memory ?? parse(rules, device.label).memory).find((each) => each !== null) ?? null,
    said: typed.memory ?? (found.length ? null : memory),
    typed: { card: card.trim(), model: model.trim() },
    models: wanted,
    size: size ?? sizeOf(sizes, wanted, model),
    task: named ?? ALL,
  };
};

const sizeOf = (sizes, models, text) => {
  if (models.length && models[0].parameters !== null) return { parameters: models[0].parameters };
  const at = sizes.findIndex((each) => each.id === text || each.label === text);
  return at < 0 || sizes[at].unknown ? null : { from: at ? sizes[at - 1].below : 0, below: sizes[at].below ?? null };
};

export const asks = (question) => question.processor || question.devices.length + question.likely.length > 0 || question.memory !== null || question.size !== null || question.models.length > 0;

// ---- figures for this very machine ------------------------------------------------------------
const onMachine = (question) => {
  const ids = new Set(question.devices.map((device) => device.id));
  if (ids.size) return (row) => ids.has(row.device.id);
  if (question.processor) return (row) => row.device.kind !== "gpu";
  if (question.memory !== null && !question.likely.length) return (row) => row.device.kind === "gpu" && row.device.memory === question.memory;
  return () => question.anywhere;
};

const classMatches = (data, question) => {
  const order = classOf(data.sizes, question.size);
  return (row) => row.model.size === order;
};

// From the model itself to its class of sizes, each with and without the task.
const circles = (data, question) => {
  const { models, size, task } = question;
  const ids = new Set(models.map((model) => model.id));
  const bySize = (row) => fitsSize(size, row.model.parameters);
  const steps = [...(ids.size ? [(row) => ids.has(row.model.id)] : []), ...(size ? [bySize, classMatches(data, question)] : []), ...(ids.size || size ? [] : [() => true])];
  return steps.flatMap((fits) => [(row) => fits(row) && row.task === task, (row) => fits(row) && row.task === ALL, fits]);
};

// No reason to use a setting: slower per token, or with the prompt read.
export const loses = (row) => !row.recommended || row.speedup < 1;

// Published figures have no bounds: of those, one that can be repeated with llama.cpp comes first.
const lower = (row) => row.interval_low ?? (row.tier === "published" ? row.speedup : 0);
const byLowerBound = (a, b) => (a.tier === "published" ? Boolean(b.setting.use) - Boolean(a.setting.use) : 0) || lower(b) - lower(a) || b.speedup - a.speedup;

// A row allows for the settings of its own device and model. The best of several rows is the best of
// the settings of all: its lower bound lies further away, and it may be no clear gain any more.
const allowed = (data, row, settings) => {
  if (row.verdict !== "helps" || settings === row.settings) return row;
  const factor = (choices) => (data.choice_factors.find(([most]) => choices <= most) ?? data.choice_factors.at(-1))[1];
  const low = row.speedup * (row.interval_low / row.speedup) ** (factor(settings) / factor(row.settings));
  const verdict = judged(data.words, { low, high: row.interval_high });
  return { ...row, interval_low: low, verdict, at_least: verdict === "helps" ? Math.floor(low * 100 + 1e-9) / 100 : null };
};

const best = (data, rows) => {
  const tier = TIERS.find((each) => rows.some((row) => row.tier === each));
  const own = rows.filter((row) => row.tier === tier).sort(byLowerBound);
  const settings = own.reduce((sum, row) => sum + row.settings, 0);
  return own.length && { tier, picked: own[0], row: allowed(data, own[0], settings), settings, least: Math.min(...own.map((row) => row.least)), most: Math.max(...own.map((row) => row.most)), models: new Set(own.map((row) => row.model.id)).size };
};

const figures = (data, question) => {
  const here = data.rows.filter(onMachine(question));
  for (const fits of circles(data, question)) {
    const found = best(data, here.filter(fits));
    if (found) return found;
  }
  return null;
};

// ---- what to expect ---------------------------------------------------------------------------
// The advisor's answer for the first of the backends that it has one for.
const expected = (data, known, question) => {
  const size = classOf(data.sizes, question.size);
  // What rounds cost a mixture of experts is not measured on enough of them.
  const mixture = activeOf(data, question) < parametersOf(question.size ?? {});
  if (!known || mixture || size === null || (!question.devices.length && question.memory === null)) return null;
  const device = known.devices.find((each) => question.devices.some(({ id }) => id === each.id)) ?? null;
  const onCards = known.devices.filter((each) => each.memory !== null).flatMap((each) => each.backends);
  const own = device?.backends ?? question.devices.flatMap((each) => each.backends);
  const tasks = question.task === ALL ? known.tasks.map(([name]) => name) : [question.task];
  for (const backend of new Set(own.length ? own : onCards)) {
    for (const task of tasks) {
      const [first] = answers(known, { device: device?.id ?? null, memory: device ? device.memory : question.memory, backend, model: null, size, task, method: "any" });
      if (first) return { ...first, backend, task };
    }
  }
  return null;
};

// ---- the nearest figures ----------------------------------------------------------------------
const ratio = (a, b) => Math.abs(Math.log2(a / b));

const deviceDistance = (question, numbers, device, rules) => {
  if (question.devices.some(({ id }) => id === device.id)) return 0;
  const kin = chips(rules, device.label).some((word) => numbers.has(word));
  const other = (device.kind === "gpu") === question.processor ? FAR.processor : 0;
  if (kin) return FAR.chip + other;
  if (question.memory === null || device.memory === null) return FAR.unknown + other;
  return (device.memory === question.memory ? FAR.memory : FAR.twice * (1 + ratio(device.memory, question.memory))) + other;
};

const modelDistance = (data, question, model) => {
  const { size } = question;
  if (question.models.some(({ id }) => id === model.id) || (!size && !question.models.length)) return 0;
  if (!size || model.parameters === null) return FAR.otherClass;
  if (model.size === classOf(data.sizes, size)) return sameSize(size.parameters ?? null, model.parameters) ? 0 : FAR.class;
  return FAR.otherClass + FAR.double * ratio(model.parameters, parametersOf(size));
};

export const nearest = (data, question) => {
  const numbers = new Set([...question.devices, ...question.likely].flatMap(({ label }) => chips(data.rules, label)));
  const scored = data.rows.map((row) => {
    const distance = deviceDistance(question, numbers, row.device, data.rules) + modelDistance(data, question, row.model);
    return { row, distance: distance + (row.task === question.task ? 0 : FAR.task) };
  });
  const order = (each) => TIERS.indexOf(each.row.tier);
  scored.sort((a, b) => a.distance - b.distance || order(a) - order(b) || byLowerBound(a.row, b.row));
  const seen = new Set();
  const found = [];
  for (const { row } of scored) {
    const name = `${row.device.id}|${row.model.id}`;
    if (seen.has(name)) continue;
    seen.add(name);
    found.push(row);
    if (found.length === NEAREST) break;
  }
  return found;
};

// ---- what the memory holds and allows ---------------------------------------------------------
// Of a class of sizes its largest model; of the last one its smallest.
// What a token uses of a mixture of experts, by its figures or its name.
const activeOf = (data, { models }) => models[0] && (models[0].active ?? parse(data.rules, models[0].label).active);
const parametersOf = (size) => size.parameters ?? size.below ?? size.from;

export const limits = (data, question) => {
  const listed = question.devices.filter((each) => each.bandwidth !== null);
  const device = listed.find((each) => each.memory === question.memory) ?? listed[0];
  const bandwidth = device?.bandwidth ?? null;
  if (!question.size || !data.weights) return { bandwidth, device: device ?? null, memory: question.memory };
  const parameters = parametersOf(question.size);
  const bytes = (parameters * data.weights.bits) / 8;
  const active = activeOf(data, question);
  const read = active ? bytes * Math.min(1, active / parameters) : bytes;
  const share = question.memory === null ? null : bytes / (question.memory * GIB);
  return {
    bandwidth,
    device: device ?? null,
    memory: question.memory,
    parameters,
    gib: bytes / GIB,
    quantisation: data.weights.quantisation,
    bits: data.weights.bits,
    fit: share === null ? null : share > 1 ? "no" : share > COMFORTABLE_SHARE ? "tight" : "yes",
    tps: bandwidth === null ? null : (bandwidth * 1e9) / read,
  };
};

// ---- the commands -----------------------------------------------------------------------------
const fileOf = (text) => `${text.replace(/[^A-Za-z0-9._]+/g, "-").replace(/^-+|-+$/g, "") || "MODEL"}.gguf`;
const tasksOf = (data, task) => (Object.hasOwn(data.words.tasks, task) ? ` --tasks ${task}` : "");

// A setting is for its model: its draft has the same vocabulary, its heads are in the file. Of
// another model than the one that was named, or of another size, no setting is passed on, only the
// line that measures the usual ones.
export const commands = (data, question, row) => {
  const order = classOf(data.sizes, question.size);
  const task = tasksOf(data, question.task);
  const { models, typed } = question;
  const named = models.length > 0 || parse(data.rules, typed.model).words.length > 0;
  const other = named && !models.some(({ id }) => id === row?.model.id);
  if (!row || other || (order !== null && row.model.size !== order)) {
    const file = fileOf(models[0]?.label ?? typed.model);
    return { use: null, note: null, measure: data.measure.replace(FILE, () => file) + task };
  }
  const file = fileOf(`${row.model.label} ${row.quantisation ?? ""}`);
  const filled = (line) => line && line.replace(FILE, () => file);
  const slower = loses(row);
  return { use: slower ? null : filled(row.setting.use), note: row.setting.note, measure: filled(row.setting.measure) + task };
};

// ---- all of it --------------------------------------------------------------------------------
export const reply = (data, known, question) => {
  const found = figures(data, question);
  const prediction = found ? null : expected(data, known, question);
  const close = nearest(data, question).filter((row) => row !== found?.picked);
  const order = classOf(data.sizes, question.size);
  const shown = found?.row ?? close.find((row) => order === null || row.model.size === order) ?? close[0] ?? null;
  const exact = Boolean(found) && (!question.models.length || question.models.some(({ id }) => id === found.row.model.id)) && fitsSize(question.size, found.row.model.parameters);
  return { question, found, exact, prediction, close, limits: limits(data, question), commands: commands(data, question, shown), shown };
};
