// The planner's sums for a visitor's memory: `answers/` (memory, placement, speed, commands)
// with the facts of `plan.json`. A test gives both the same thousand random inputs.
"use strict";

import { number } from "./say.js";

const PAD = 256;
const [F32, F16, BITS, MIB] = [4, 2, 8, 2 ** 20];
const DEPTH_TOKENS = 512;
const ALL = "none";

const padded = (tokens) => Math.ceil(tokens / PAD) * PAD;
const cells = (rules, context, window) =>
  window ? Math.min(padded(context), padded(window + rules.ubatch)) : padded(context);
const empty = (file) => Object.fromEntries(Object.keys(file.kinds).map((kind) => [kind, 0]));
export const total = (buffers) => Object.values(buffers).reduce((a, b) => a + b, 0);
export const placed = (model) => model.layers.length + 1;

export const gib = (mib) => `${number(mib / 1024, Math.abs(mib) < 10240 ? 1 : 0)} GiB`;
export const modelOf = (file, id) => file.models.find((model) => model.id === id) ?? null;
const kindsOf = (model) => model.layers.map((number) => model.kinds[number]);
const own = (model) => model.layers.length - model.head;

// What a card and main memory have free before a model is loaded; of one memory for both (`shared`
// names the device) graphics may use a part.
const hostFreeOf = ({ rules }, gib) => gib * 1024 - rules.system;
const freeOf = (file, { memory, shared }) =>
  shared
    ? Math.min(hostFreeOf(file, memory), memory * 1024 * file.rules.shared_share)
    : Math.max(0, memory * 1024 * (1 - file.rules.taken_share) - file.rules.taken);

// Buffers on the card and in main memory, in MiB by kind.
const place = (file, model, { bits, context, kv, copies, head }, layers, experts) => {
  const { rules } = file;
  const [body, embedding, output] = bits.map((each) => each / BITS);
  const [device, host] = [empty(file), empty(file)];
  host.model = model.matrix * (model.tied ? output : embedding);
  host.output = model.logits;
  const first = placed(model) - layers;
  const kinds = kindsOf(model);
  kinds.forEach(([weight, expert, width, window, state], at) => {
    const home = at >= first ? device : host;
    home.model += weight * body;
    (at < experts ? host : home).model += expert * body;
    const cache = (cells(rules, context, window) * width * rules.kv[kv]) / MIB;
    if (at < own(model)) {
      home.kv += cache;
      home.recurrent += state * (1 + copies);
    } else if (head) home.draft_kv += cache;
  });
  if (layers || !model.tied) (layers ? device : host).model += model.matrix * output;
  const windows = new Set(
    kinds
      .slice(0, own(model))
      .filter(([, , width]) => width)
      .map(([, , , window]) => window),
  );
  const masks =
    ([...windows].reduce((sum, window) => sum + cells(rules, context, window), 0) *
      rules.ubatch *
      F16) /
    MIB;
  const split = layers < placed(model) || experts > 0;
  if (layers) {
    const matrix = (Math.max(...kinds.slice(0, own(model)).map(([weight]) => weight)) * body) / F32;
    device.compute += masks + model.compute + (split ? model.row + matrix : 0);
    host.compute += masks + (split ? 3 : 2) * model.row;
  } else host.compute += masks + model.compute + model.row;
  if (head) {
    (layers ? device : host).draft_compute += masks + model.head_compute;
    if (layers) host.draft_compute += masks + 2 * model.row;
  }
  return { device, host };
};

const addDraft = (into, from) => {
  for (const [kind, mib] of Object.entries(from))
    into[`draft_${kind}` in into ? `draft_${kind}` : kind] += mib;
};

// How much more than planned a place may hold: weights by name, and where layers are computed what
// some builds reserve.
const allowance = ({ rules }, models, buffers, computes) => {
  const reserved = models[0].reserved + (buffers.draft_compute ? models.at(-1).reserved : 0);
  return (
    rules.weights_error * (buffers.model + buffers.draft_model) +
    (computes ? rules.runtime + reserved : 0)
  );
};

const settingOf = (file, model, asked) => {
  const head = asked.draft === "head" && model.head > 0;
  const recurrent = model.kinds.some(([, , , , state]) => state > 0);
  return {
    bits: file.quantisations[asked.quantisation],
    context: asked.context,
    kv: asked.kv,
    head,
    copies: head && recurrent ? file.rules.copies : 0,
  };
};

const project = (file, model, asked, layers, experts) => {
  const setting = settingOf(file, model, asked);
  const { device, host } = place(file, model, setting, layers, experts);
  const draft = asked.draft === "model" && model.draft ? modelOf(file, model.draft) : null;
  if (draft) {
    const lies = place(
      file,
      draft,
      { bits: file.quantisations.Q8_0, context: asked.context, kv: "f16", copies: 0, head: false },
      placed(draft),
      0,
    );
    addDraft(device, lies.device);
    addDraft(host, lies.host);
  }
  const free = freeOf(file, asked);
  const hostFree = hostFreeOf(file, asked.shared ? asked.memory : asked.ram);
  const models = draft ? [model, draft] : [model];
  const onDevice =
    total(device) + Math.max(file.rules.margin, allowance(file, models, device, true));
  const onHost = total(host) + allowance(file, models, host, layers === 0);
  return {
    layers,
    experts,
    device,
    host,
    free,
    hostFree,
    deviceFits: !total(device) || onDevice <= free,
    hostFits: onHost + (asked.shared ? total(device) : 0) <= hostFree,
  };
};

// The least number of a range that fits, where a larger one always does if a smaller one does.
const least = (from, to, fits) => {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
};

// The placement with the most on the card; of a mixture the experts of the first layers leave
// first.
const fit = (file, model, asked) => {
  const at = (layers, experts) => project(file, model, asked, layers, experts);
  const whole = placed(model);
  let experts = 0;
  if (model.used !== null) {
    const all = at(whole, 0);
    if (all.deviceFits) return all;
    const most = model.layers.length;
    const found = at(
      whole,
      least(1, most, (count) => count >= most || at(whole, count).deviceFits),
    );
    if (found.deviceFits) return found;
    experts = most;
  }
  return at(
    whole - least(0, whole, (off) => off >= whole || at(whole - off, experts).deviceFits),
    experts,
  );
};

const largestContext = (file, model, asked, { layers, experts }) => {
  const { step } = file.rules;
  const most = Math.floor(model.longest / step);
  const fits = (count) => {
    const found = project(file, model, { ...asked, context: count * step }, layers, experts);
    return found.deviceFits && found.hostFits;
  };
  return (most - least(0, most, (less) => less >= most || fits(most - less))) * step || null;
};

// Tokens per second of the target alone: bytes over bandwidths, each with what is usually reached.
const plainSpeed = (file, model, asked, { layers, experts }) => {
  const { rules } = file;
  const [body, , output] = file.quantisations[asked.quantisation].map((each) => each / BITS);
  let [device, host] = layers ? [model.matrix * output, 0] : [0, model.matrix * output];
  const first = placed(model) - layers;
  kindsOf(model)
    .slice(0, own(model))
    .forEach(([weight, expert, width, window], at) => {
      const cache = (cells(rules, DEPTH_TOKENS, window) * width * rules.kv[asked.kv]) / MIB;
      const active = expert * body * (model.used ?? 1);
      if (at >= first) device += weight * body + cache;
      else host += weight * body + cache;
      if (at >= first && at >= experts) device += active;
      else host += active;
    });
  const start = rules.layer_ms + (model.used === null ? 0 : rules.choice_ms);
  const starts =
    Math.min(layers, own(model)) * start + Math.min(layers, experts) * rules.crossing_ms;
  const [low, usual, high] = rules.efficiency;
  const fast = (asked.bandwidth ?? rules.bandwidth) * usual * 1e9;
  const slow = rules.host_bandwidth * usual * rules.host_efficiency * 1e9;
  const tps = 1000 / (((device * MIB) / fast + (host * MIB) / slow) * 1000 + starts);
  return { estimate: tps, low: (tps * low) / usual, high: (tps * high) / usual };
};

const command = (file, model, asked, { layers, experts }) => {
  const draft = asked.draft === "model" && model.draft ? modelOf(file, model.draft) : null;
  const words = [`llama-server -m ${model.id}-${asked.quantisation}.gguf`];
  if (draft) words.push(`-md ${draft.id}-Q8_0.gguf`);
  words.push(`-c ${asked.context} -np 1 -ub ${file.rules.ubatch} -ngl ${layers} -fit off`);
  if (experts && layers) words.push(`-ncmoe ${experts}`);
  if (asked.kv !== "f16") words.push(`-ctk ${asked.kv} -ctv ${asked.kv}`);
  if (draft) words.push(`-ngld ${placed(draft)} ${file.rules.draft}`);
  if (asked.draft === "head" && model.head) words.push(file.rules.head);
  return words.join(" ");
};

const planLine = (model, asked) => {
  const words = [
    `python -m harness plan --target ${model.id}:${asked.quantisation} --context ${asked.context}`,
  ];
  if (asked.kv !== "f16") words.push(`--kv-type ${asked.kv}`);
  if (asked.draft === "head" && model.head) words.push("--draft mtp");
  if (asked.draft === "model" && model.draft) words.push(`--draft ${model.draft}:Q8_0`);
  words.push(
    asked.shared
      ? `--gpu "${asked.shared} ${asked.memory} GB"`
      : `--vram ${asked.memory} --ram ${asked.ram}`,
  );
  if (asked.bandwidth) words.push(`--bandwidth ${asked.bandwidth}`);
  return words.join(" ");
};

// The plan of one model, with what is usual where nothing was asked.
export const plan = (file, model, wish) => {
  const asked = { ...file.usual, kv: "f16", draft: ALL, bandwidth: null, ...wish };
  const found = fit(file, model, asked);
  const alone = asked.draft === ALL ? found : fit(file, model, { ...asked, draft: ALL });
  return {
    ...found,
    asked,
    model,
    alone,
    whole: placed(model),
    fits: found.deviceFits && found.hostFits,
    contextMax: largestContext(file, model, asked, found),
    tps: plainSpeed(file, model, asked, alone),
    command: command(file, model, asked, found),
    planLine: planLine(model, asked),
  };
};

// What else the same memory could hold, for the usual setting and the next smaller usual memory.
export const alternatives = (file, model, asked) => {
  const memory = asked.shared ? asked.memory * file.rules.shared_share : asked.memory;
  const at = file.memories.findLastIndex((each) => each <= memory);
  const listed = at < 0 ? [] : file.alternatives[model.id][at];
  const range = (low, high) =>
    low === undefined ? "" : `(${number(low, 2)} to ${number(high, 2)}, predicted) `;
  return {
    memory: file.memories[at] ?? null,
    listed: listed.map(([words, ratio, low, high]) => ({
      words: file.words[words],
      ratio,
      range: range(low, high),
    })),
  };
};

// ---- words ------------------------------------------------------------------------------------
// Whether it fits, in a word and in a sentence.
const SLOW = "layers in main memory are many times slower";
export const verdict = (found) => {
  const { model, layers, whole, experts, device, host, free, hostFree, asked } = found;
  const spare = free - total(device);
  const name = `${model.label} in ${asked.quantisation}`;
  const there = asked.shared ? "in the part of its memory that graphics may use" : "on the card";
  if (!found.fits) {
    const short = found.hostFits
      ? `needs ${gib(total(device))} ${there}, which has ${gib(free)} free`
      : `needs ${gib(total(host))} of main memory beside the card, and ` +
        `${gib(Math.max(0, hostFree))} are free`;
    return { kind: "no", words: "✕ Does not fit", text: `${name} ${short}.` };
  }
  if (layers === whole && !experts)
    return {
      kind: "yes",
      words: "✓ Fits",
      text: `${name}: all ${whole} layers lie ${there}, and ${gib(spare)} of that stay free.`,
    };
  if (layers === whole)
    return {
      kind: "part",
      words: "◐ Fits in part",
      text:
        `${name}: all ${whole} layers lie ${there}, but the experts of ${experts} of them ` +
        `stay in main memory (${gib(host.model)}). A token reads few of them, so this costs less ` +
        `than layers would.`,
    };
  if (!layers)
    return {
      kind: "no",
      words: "✕ Does not fit on this card",
      text: `${name} runs from main memory alone: nothing of it fits beside its buffers.`,
    };
  return {
    kind: "part",
    words: "◐ Fits in part",
    text: `${name}: ${layers} of ${whole} layers lie ${there}, the rest in main memory; ${SLOW}.`,
  };
};
