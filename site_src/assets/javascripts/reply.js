// What is known for a visitor's machine: figures for it, tier by tier, else what to expect and the
// nearest figures, always what its memory holds and allows, and the commands. Data only, no page.
"use strict";

import { answers, judged } from "./arithmetic.js";
import { chips, classOf, devicesFor, fitsSize, isCard, leftOver, memoryOf, modelsFor, parse } from "./matching.js";
import { activeParameters, modelOf } from "./plan.js";

const ALL = "all";
const TIERS = ["measured", "imported", "published"];
const FILE = "TARGET.gguf"; // what the commands call the visitor's model
const GIB = 2 ** 30;
const COMFORTABLE_SHARE = 0.9; // of a memory; the rest is for the context and the system
const NEAREST = 3;
// How far a figure is from the question: another card of the same chip, the same memory, one twice
// as large; a model twice as large, a mixture of experts for a dense one; another task.
const FAR = { chip: 1, memory: 2, twice: 2, unknown: 5, processor: 4, double: 3, kind: 3, model: 3, task: 0.25 };
const ABOUT = 0.5; // of a doubling: 8B stands for 5.7 to 11.3B

// Rows as objects, made once per file.
export const decode = (file, words) => {
  const active = (model) => model.active ?? parse(words.spellings, model.label).active ?? Infinity;
  const models = file.models.map((model) => ({ ...model, mixture: model.mixture || active(model) < model.parameters }));
  return {
    ...file,
    rules: words.spellings,
    words,
    sizes: Object.values(words.sizes),
    models,
    rows: file.rows.map((row) => {
      const found = Object.fromEntries(file.columns.map((name, at) => [name, row[at]]));
      return { ...found, device: file.devices[found.device], model: models[found.model], setting: { ...file.settings[found.setting], number: found.setting }, settings: found.settings };
    }),
  };
};

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

const ratio = (a, b) => Math.abs(Math.log2(a / b));

// A mixture of experts and a dense model of one size have nothing in common.
const sameKind = ({ mixture }, model) => mixture === null || model.mixture === mixture;
const aboutAsLarge = ({ size }, model) => fitsSize(size, model.parameters) || (size.parameters !== undefined && model.parameters !== null && ratio(model.parameters, size.parameters) <= ABOUT);

// From the model itself to those of about its size and kind, each with and without the task.
const circles = (data, question) => {
  const { models, size, task } = question;
  const ids = new Set(models.map((model) => model.id));
  const alike = (fits) => ({ model }) => sameKind(question, model) && fits(model);
  const steps = [...(ids.size ? [(row) => ids.has(row.model.id)] : []), ...(size ? [alike((model) => fitsSize(size, model.parameters)), alike((model) => aboutAsLarge(question, model))] : []), ...(ids.size || size ? [] : [() => true])];
  return steps.flatMap((fits) => [(row) => fits(row) && row.task === task, (row) => fits(row) && row.task === ALL, fits]);
};

// No reason to use a setting: not surely faster per token, or slower with the prompt read.
const loses = (row) => !row.recommended || (row.interval_low ?? row.speedup) <= 1;

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
  if (!known || question.mixture || size === null || (!question.devices.length && question.memory === null)) return null;
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
const deviceDistance = (question, numbers, device, rules) => {
  if (question.devices.some(({ id }) => id === device.id)) return 0;
  const kin = chips(rules, device.label).some((word) => numbers.has(word));
  const other = (device.kind === "gpu") === question.processor ? FAR.processor : 0;
  if (kin) return FAR.chip + other;
  if (question.memory === null || device.memory === null) return FAR.unknown + other;
  return (device.memory === question.memory ? FAR.memory : FAR.twice * (1 + ratio(device.memory, question.memory))) + other;
};

const modelDistance = (question, model) => {
  const { active, size } = question;
  if (question.models.some(({ id }) => id === model.id) || (!size && !question.models.length)) return 0;
  if (!size || model.parameters === null) return FAR.model;
  const experts = active && model.active ? ratio(model.active, active) : 0;
  return (sameKind(question, model) ? 0 : FAR.kind) + FAR.double * (ratio(model.parameters, parametersOf(size)) + experts);
};

export const nearest = (data, question) => {
  const numbers = new Set([...question.devices, ...question.likely].flatMap(({ label }) => chips(data.rules, label)));
  const scored = data.rows.map((row) => {
    const distance = deviceDistance(question, numbers, row.device, data.rules) + modelDistance(question, row.model);
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
const parametersOf = (size) => size.parameters ?? size.below ?? size.from;

// What a token reads of the model that is asked about, and whether that is a mixture of experts: by its
// figures, its name or the planner's shapes. Of a size alone a dense model; else it is not known.
const withKind = (data, question, plans) => {
  const { models: [model], typed, size } = question;
  const said = parse(data.rules, typed.model || typed.card);
  const active = model?.active ?? parse(data.rules, model?.label ?? "").active ?? said.active;
  if (active) return { ...question, active, mixture: active < parametersOf(size ?? model ?? {}), bySize: false };
  const shape = plans && (modelOf(plans, model?.plan) ?? modelsFor(data.rules, plans.models, typed.model).models[0]);
  if (shape) return { ...question, active: activeParameters(shape), mixture: shape.used !== null, bySize: false };
  const bySize = Boolean(size) && !model && !parse(data.rules, typed.model).words.length;
  return { ...question, active: bySize ? parametersOf(size) : null, mixture: bySize ? false : (model?.mixture ?? null), bySize };
};

export const limits = (data, question) => {
  const listed = question.devices.filter((each) => each.bandwidth !== null);
  const device = listed.find((each) => each.memory === question.memory) ?? listed[0];
  const bandwidth = device?.bandwidth ?? null;
  if (!question.size || !data.weights) return { bandwidth, device: device ?? null, memory: question.memory };
  const parameters = parametersOf(question.size);
  const bytes = (parameters * data.weights.bits) / 8;
  const read = question.active === null ? null : (question.active * data.weights.bits) / 8;
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
    tps: bandwidth === null || read === null ? null : (bandwidth * 1e9) / read,
  };
};

// ---- the commands -----------------------------------------------------------------------------
const fileOf = (text) => `${text.replace(/[^A-Za-z0-9._]+/g, "-").replace(/^-+|-+$/g, "") || "MODEL"}.gguf`;
const tasksOf = (data, task) => (Object.hasOwn(data.words.tasks, task) ? ` --tasks ${task}` : "");

// A figure of this very machine was run on it; another setting fits if its weights do.
const fitsMemory = (question, row) => question.memory === null || onMachine(question)(row) || (row.needs_gib !== null && row.needs_gib <= COMFORTABLE_SHARE * question.memory);

// Why a figure's setting is not passed on: a setting is for its model, its draft has the same
// vocabulary, its heads are in the file; and none is passed on that does not fit or is no gain.
const reasonAgainst = (data, question, row) => {
  const { models, size, typed } = question;
  const named = models.length > 0 || parse(data.rules, typed.model).words.length > 0;
  if (!row || (named && !models.some(({ id }) => id === row.model.id)) || (size && !aboutAsLarge(question, row.model)) || !sameKind(question, row.model)) return "model";
  if (!fitsMemory(question, row)) return "memory";
  if (row.other_tps !== null) return "plain";
  if (loses(row)) return "slower";
  return row.setting.use ? null : "engine";
};

export const commands = (data, question, row) => {
  const { models, typed } = question;
  const why = reasonAgainst(data, question, row);
  const task = tasksOf(data, question.task);
  const own = why === "model" || why === "memory";
  const file = fileOf(own ? (models[0]?.label ?? typed.model) : `${row.model.label} ${row.quantisation ?? ""}`);
  const filled = (line) => line.replace(FILE, () => file);
  const measure = why === null || why === "engine" ? row.setting.measure : data.measure;
  return { use: why ? null : filled(row.setting.use), note: why ? null : row.setting.note, why, measure: filled(measure) + task };
};

// ---- all of it --------------------------------------------------------------------------------
export const reply = (data, known, asked, plans = null) => {
  const question = withKind(data, asked, plans);
  const found = figures(data, question);
  const prediction = found ? null : expected(data, known, question);
  const close = nearest(data, question).filter((row) => row !== found?.picked);
  const passedOn = close.find((row) => !reasonAgainst(data, question, row));
  const shown = found?.row ?? passedOn ?? close[0] ?? null;
  const exact = Boolean(found) && (!question.models.length || question.models.some(({ id }) => id === found.row.model.id)) && fitsSize(question.size, found.row.model.parameters);
  return { question, found, exact, prediction, close, limits: limits(data, question), commands: commands(data, question, shown), shown };
};
