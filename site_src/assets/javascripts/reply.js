// What is known for a visitor's machine: the strip of that device and model, the nearest strips,
// always what its memory holds and allows, and the commands. Data only, no page.
"use strict";

import {
  alike,
  chips,
  devicesFor,
  fitsSize,
  isCard,
  leftOver,
  memoryOf,
  modelsFor,
  parse,
  together,
} from "./matching.js";
import { activeParameters, modelOf, plan, total } from "./plan.js";

const ALL = "all";
// What the commands call the visitor's model: a file, or a name for vLLM.
const TARGET = /TARGET(\.gguf)?/;
const GIB = 2 ** 30;
const COMFORTABLE_SHARE = 0.9; // of a memory; the rest is for the context and the system
const NEAREST = 3;
// How far a figure is from the question: another card of the same chip, the same memory, one twice
// as large; a model twice as large, a mixture of experts for a dense one, another than the one that
// was named.
const FAR = {
  chip: 1,
  memory: 2,
  twice: 2,
  unknown: 5,
  processor: 4,
  double: 3,
  kind: 3,
  other: 1,
  model: 3,
};
const ABOUT = 0.5; // of a doubling: 8B stands for 5.7 to 11.3B

// Strips as objects, made once per file.
export const decode = (file, words) => {
  const active = (model) => model.active ?? parse(words.spellings, model.label).active ?? Infinity;
  const models = file.models.map((model) => ({
    ...model,
    mixture: model.mixture || active(model) < model.parameters,
  }));
  return {
    ...file,
    rules: words.spellings,
    words,
    sizes: Object.values(words.sizes),
    models,
    rows: file.strips.map((row) => {
      const found = Object.fromEntries(file.strip_columns.map((name, at) => [name, row[at]]));
      return {
        ...found,
        device: file.devices[found.device],
        model: models[found.model],
        setting: file.settings[found.setting],
      };
    }),
  };
};

// The strips of one view: of each device and model the best tier that is asked for.
export const view = (
  data,
  { task = ALL, backend = "", method = "", tier = "", aside = null } = {},
) => {
  const scope = (backend ? 1 : 0) + (method ? 2 : 0);
  const inView = (row) =>
    row.scope === scope &&
    row.aside === aside &&
    row.task === task &&
    (!backend || row.backend === backend) &&
    (!method || row.method === method) &&
    (!tier || row.tier === tier);
  const best = new Map();
  for (const row of data.rows.filter(inView)) {
    const place = `${row.device.id}|${row.model.id}`;
    if (!best.has(place) || row.tier_order < best.get(place).tier_order) best.set(place, row);
  }
  return [...best.values()];
};

// ---- the question -----------------------------------------------------------------------------
// What was typed for the card, the model and the task, understood as far as it can be.
export const understand = (data, { card = "", model = "", task = ALL, view: wish = {} }) => {
  const { rules, devices, models, sizes } = data;
  const typed = parse(rules, card);
  const found = devicesFor(rules, devices, card);
  const cards = found.filter(isCard);
  const several = cards.length ? null : together(rules, devices, typed);
  const chosen = several
    ? [several]
    : cards.filter(({ cost }) => cost - cards[0].cost < 1).map(({ device }) => device);
  // A text that names all at once: "4060 qwen3 8b code".
  const left = leftOver(rules, devices, typed);
  const size = parse(rules, model).size ?? left.size;
  const wanted = modelsFor(
    rules,
    models,
    model || {
      ...left,
      words: left.words.filter((word) => !Object.hasOwn(data.words.tasks, word)),
    },
  ).models;
  const named = Object.hasOwn(data.words.tasks, task)
    ? task
    : left.words.find((word) => Object.hasOwn(data.words.tasks, word));
  const memory = several
    ? several.memory
    : chosen.length || found.length
      ? typed.memory
      : memoryOf(rules, card);
  const likely = chosen.length ? [] : found.slice(0, NEAREST).map(({ device }) => device);
  // A name that is no device's is named, with the names that are written most like it.
  const odd = left.words.filter((word) => !Object.hasOwn(data.words.tasks, word));
  const isName =
    likely.length > 0 ||
    odd.some((word) => /\d/.test(word)) ||
    (memory === null && typed.words.length > 0 && !left.size) ||
    (Boolean(model) && Boolean(left.size)); // "780M" is no model here
  const known =
    chosen.length ||
    (typed.processor && !odd.some((word) => /\d/.test(word))) ||
    (wanted.length && !model);
  // A text alone may mean a model, too: "lama 3.2".
  const namesake = typed.processor
    ? devices.filter(({ kind }) => kind !== "gpu")
    : model
      ? devices
      : [...devices, ...models];
  const unknown = known || !isName ? null : likely.length ? likely : alike(namesake, card, NEAREST);
  const about = sizeOf(sizes, wanted, model);
  return {
    processor: chosen.length ? chosen[0].kind !== "gpu" : typed.processor && !found.length,
    devices: chosen,
    likely,
    unknown: unknown && unknown.map(({ label }) => label),
    memory:
      memory ??
      chosen
        .map((device) => device.memory ?? parse(rules, device.label).memory)
        .find((each) => each !== null) ??
      null,
    said: typed.memory ?? (found.length ? null : memory),
    typed: { card: card.trim(), model: model.trim() },
    models: wanted,
    unnamed:
      model.trim() && !wanted.length && !size && !about
        ? alike(models, model, NEAREST).map(({ label }) => label)
        : null,
    size: size ?? about,
    task: named ?? ALL,
    view: wish,
  };
};

const sizeOf = (sizes, models, text) => {
  if (models.length && models[0].parameters !== null) return { parameters: models[0].parameters };
  const at = sizes.findIndex((each) => each.id === text || each.label === text);
  return at < 0 || sizes[at].unknown
    ? null
    : { from: at ? sizes[at - 1].below : 0, below: sizes[at].below ?? null };
};

export const asks = (question) =>
  question.processor ||
  question.devices.length > 0 ||
  question.memory !== null ||
  question.size !== null ||
  question.models.length > 0;

// ---- figures for this very machine ------------------------------------------------------------
const onMachine = (question) => {
  const ids = new Set(question.devices.map((device) => device.id));
  if (ids.size) return (row) => ids.has(row.device.id);
  if (question.unknown) return () => false;
  if (question.processor) return (row) => row.device.kind !== "gpu";
  if (question.memory !== null)
    return (row) => row.device.kind === "gpu" && row.device.memory === question.memory;
  return () => !question.typed.card || question.models.length > 0 || question.size !== null;
};

const ratio = (a, b) => Math.abs(Math.log2(a / b));

// A mixture of experts and a dense model of one size have nothing in common.
const sameKind = ({ mixture }, model) => mixture === null || model.mixture === mixture;
const isNamed = ({ models }, model) => models.some(({ id }) => id === model.id);
const aboutAsLarge = ({ size }, model) =>
  fitsSize(size, model.parameters) ||
  (size.parameters !== undefined &&
    model.parameters !== null &&
    ratio(model.parameters, size.parameters) <= ABOUT);
const mayAnswer = (question, model) => {
  if (isNamed(question, model)) return true;
  if (question.size) return sameKind(question, model) && aboutAsLarge(question, model);
  return !question.models.length && !question.typed.model;
};

const modelDistance = (question, model) => {
  const { active, size } = question;
  if (isNamed(question, model) || (!size && !question.models.length)) return 0;
  if (!size || model.parameters === null) return FAR.model;
  const experts = active && model.active ? ratio(model.active, active) : 0;
  return (
    (question.models.length ? FAR.other : 0) +
    (sameKind(question, model) ? 0 : FAR.kind) +
    FAR.double * (ratio(model.parameters, parametersOf(size)) + experts)
  );
};

// Nothing is picked by its speed: the nearest model, the task, the tier, then what most people
// have.
const order = (question) => (a, b) =>
  modelDistance(question, a.model) - modelDistance(question, b.model) ||
  (b.task === question.task) - (a.task === question.task) ||
  TIERS.indexOf(a.tier) - TIERS.indexOf(b.tier) ||
  b.people - a.people ||
  Boolean(b.setting.use) - Boolean(a.setting.use) ||
  b.figures - a.figures ||
  (a.device.label < b.device.label ? -1 : 1);
const TIERS = ["measured", "imported", "published"];

const strips = (data, { task, view: wish }) => [
  ...(task === ALL ? [] : view(data, { ...wish, task })),
  ...view(data, { ...wish, task: ALL }),
];

// No reason to use a setting: not surely faster per token, or slower with the prompt read. A
// published figure has no bounds.
const loses = (row) =>
  row.recommended === false ||
  (row.interval_low ?? (row.tier === "published" ? row.speedup : 0)) <= 1;
const isUnclear = (row) => row.tier !== "published" && row.verdict !== "helps";

// ---- the nearest figures ----------------------------------------------------------------------
const deviceDistance = (question, numbers, device, rules) => {
  if (question.devices.some(({ id }) => id === device.id)) return 0;
  const kin = chips(rules, device.label).some((word) => numbers.has(word));
  const other = (device.kind === "gpu") === question.processor ? FAR.processor : 0;
  const same = question.devices.some(({ label }) => label.endsWith(device.label)); // one of several
  if (kin) return FAR.chip + other - (same ? FAR.chip / 2 : 0);
  if (question.memory === null || device.memory === null) return FAR.unknown + other;
  return (
    (device.memory === question.memory
      ? FAR.memory
      : FAR.twice * (1 + ratio(device.memory, question.memory))) + other
  );
};

export const nearest = (data, question, found) => {
  const numbers = new Set(
    [...question.devices, ...question.likely].flatMap(({ label }) => chips(data.rules, label)),
  );
  const distance = (row) =>
    deviceDistance(question, numbers, row.device, data.rules) + modelDistance(question, row.model);
  const all = strips(data, question).filter(
    (row) => !found || row.device.id !== found.device.id || row.model.id !== found.model.id,
  );
  const first = new Map();
  for (const row of all.sort((a, b) => distance(a) - distance(b) || order(question)(a, b))) {
    const place = `${row.device.id}|${row.model.id}`;
    if (!first.has(place)) first.set(place, row);
  }
  return [...first.values()].slice(0, NEAREST);
};

// ---- what the memory holds and allows ---------------------------------------------------------
// Of a class of sizes its largest model; of the last one its smallest.
const parametersOf = (size) => size.parameters ?? size.below ?? size.from;

// What a token reads of the model that is asked about, and whether that is a mixture of experts: by
// its figures, its name or the planner's shapes. Of a size alone a dense model; else it is not
// known.
const withKind = (data, question, plans) => {
  const {
    models: [model],
    typed,
    size,
  } = question;
  const said = parse(data.rules, typed.model || typed.card);
  const active = model?.active ?? parse(data.rules, model?.label ?? "").active ?? said.active;
  if (active)
    return {
      ...question,
      active,
      mixture: active < parametersOf(size ?? model ?? {}),
      bySize: false,
    };
  const shape =
    plans &&
    (modelOf(plans, model?.plan) ?? modelsFor(data.rules, plans.models, typed.model).models[0]);
  if (shape)
    return {
      ...question,
      active: activeParameters(shape),
      mixture: shape.used !== null,
      bySize: false,
    };
  const bySize = Boolean(size) && !model && !parse(data.rules, typed.model).words.length;
  return {
    ...question,
    active: bySize ? parametersOf(size) : null,
    mixture: bySize ? false : (model?.mixture ?? null),
    bySize,
  };
};

export const limits = (data, question) => {
  const listed = question.devices.filter((each) => each.bandwidth !== null);
  const device = listed.find((each) => each.memory === question.memory) ?? listed[0];
  const bandwidth = device?.bandwidth ?? null;
  if (!question.size || !data.weights)
    return { bandwidth, device: device ?? null, memory: question.memory };
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

// Where a model would lie: on a card, or in the one memory that a device shares with its computer.
export const placeOf = ({ devices, memory }) =>
  devices[0]?.shared ? { memory, shared: devices[0].label } : { memory };

// What drafting takes of a memory: weights, and how much shorter the longest context becomes.
export const costOf = (data, plans, row, question) => {
  const place = placeOf(question);
  const { memory } = place;
  const kind = data.words.methods[row.method]?.draft;
  if (kind === "none") return { kind };
  const model = plans && modelOf(plans, row.model.plan);
  const known = Boolean(plans?.quantisations[row.quantisation]);
  const quantisation = known ? row.quantisation : plans?.usual.quantisation;
  const planned = (wish) => plan(plans, model, { quantisation, ...place, ...wish });
  // Lengths of context can be compared while all layers are on the card, of weights whose size is
  // known.
  const lengths = (before, after) =>
    known && after.layers === after.whole && after.experts === 0
      ? { before: before.contextMax, after: after.contextMax }
      : {};
  if (kind === "built-in" && model?.head && memory !== null) {
    const [before, after] = [planned({}), planned({ draft: "head" })];
    return {
      kind,
      gib:
        (total(after.device) + total(after.host) - total(before.device) - total(before.host)) /
        1024,
      ...lengths(before, after),
    };
  }
  if (row.draft_gib === null) return null;
  const lost =
    model && memory > row.draft_gib
      ? lengths(planned({}), planned({ memory: memory - row.draft_gib }))
      : {};
  return { kind, gib: row.draft_gib, ...lost };
};

// ---- the commands -----------------------------------------------------------------------------
const nameOf = (text) => text.replace(/[^A-Za-z0-9._]+/g, "-").replace(/^-+|-+$/g, "") || "MODEL";
const tasksOf = (data, task) => (Object.hasOwn(data.words.tasks, task) ? ` --tasks ${task}` : "");

// A figure of this very machine was run on it, unless another memory is named; else its weights
// must fit.
const fitsMemory = (question, row) => {
  const own =
    onMachine(question)(row) && (question.said === null || row.device.memory === question.memory);
  return (
    question.memory === null ||
    own ||
    (row.needs_gib !== null && row.needs_gib <= COMFORTABLE_SHARE * question.memory)
  );
};

// Why a figure's setting is not passed on: a setting is for its model, its draft has the same
// vocabulary, its heads are in the file; and none is passed on that does not fit or is no gain.
const reasonAgainst = (data, question, row) => {
  const { models, size, typed } = question;
  const named = models.length > 0 || parse(data.rules, typed.model).words.length > 0;
  if (
    !row ||
    (named && !isNamed(question, row.model)) ||
    (size && !aboutAsLarge(question, row.model)) ||
    !sameKind(question, row.model)
  )
    return "model";
  if (
    !fitsMemory(question, row) ||
    question.unknown ||
    (question.processor && row.device.kind === "gpu")
  )
    return "memory";
  if (row.other_tps !== null) return "plain";
  if (loses(row)) return "slower";
  if (isUnclear(row)) return "unclear";
  return row.setting.use ? null : "engine";
};

export const commands = (data, question, row) => {
  const { models, typed } = question;
  const why = reasonAgainst(data, question, row);
  const task = tasksOf(data, question.task);
  const own = why === "model" || why === "memory";
  const name = nameOf(own ? (models[0]?.label ?? typed.model) : row.model.label);
  const file = own ? name : nameOf(`${row.model.label} ${row.quantisation ?? ""}`);
  const filled = (line) => line.replace(TARGET, (_, ending) => (ending ? file + ending : name));
  const measure = ["engine", "unclear", null].includes(why) ? row.setting.measure : data.measure;
  return {
    use: why ? null : filled(row.setting.use),
    note: why ? null : row.setting.note,
    why,
    measure: filled(measure) + task,
  };
};

// ---- all of it --------------------------------------------------------------------------------
export const reply = (data, asked, plans = null) => {
  const question = withKind(data, asked, plans);
  const here = onMachine(question);
  const [found = null] = strips(data, question)
    .filter((row) => here(row) && mayAnswer(question, row.model))
    .sort(order(question));
  const close = nearest(data, question, found);
  const shown =
    found ?? close.find((row) => !reasonAgainst(data, question, row)) ?? close[0] ?? null;
  const exact =
    Boolean(found) &&
    (question.models.length
      ? isNamed(question, found.model)
      : fitsSize(question.size, found.model.parameters));
  const cost = found && costOf(data, plans, found, question);
  return {
    question,
    found,
    exact,
    close,
    cost,
    limits: limits(data, question),
    commands: commands(data, question, shown),
    shown,
  };
};
