// The listed machine and model that a read name means (`names.js` reads). A card or model that is
// not listed is answered as the nearest thing that is known of it: its memory, its size.
import { readMachine, readModel } from "./names.js";

const NEAREST = 3;
const NEAR = 0.12; // 27B and 28B are one size
const MIXTURE = /(?:^|-)a\d|\d+x\d|(?:^|-)moe(?:-|$)/;

const indexes = new WeakMap();
const indexOf = (data) => {
  if (!indexes.has(data.names)) {
    const cards = new Map();
    for (const machine of data.machines.filter(({ kind }) => kind === "gpu")) {
      const sign = signOf(readMachine(data.names, machine.label).cards);
      cards.set(sign, [...(cards.get(sign) ?? []), machine]);
    }
    const models = new Map();
    for (const model of data.models)
      for (const name of [model.label, model.name]) {
        const { slug } = readModel(data.names, name);
        if (!((models.get(slug)?.people ?? -1) >= model.people)) models.set(slug, model);
      }
    indexes.set(data.names, { cards, models });
  }
  return indexes.get(data.names);
};
const signOf = (cards) => cards.map(({ key, count }) => `${count} ${key}`).join(" + ");

// Of one card in several sizes, choose the largest size up to the stated one, else the smallest.
const ofSize = (machines, gib) => {
  const sorted = machines.filter(({ memory }) => memory !== null);
  sorted.sort((a, b) => a.memory - b.memory);
  return sorted.findLast(({ memory }) => memory <= gib) ?? sorted[0] ?? machines[0];
};

const pairsOf = (text) => {
  const joined = text.toLowerCase().replace(/[^a-z0-9.]/g, "");
  return new Set([...joined].slice(1).map((letter, at) => joined[at] + letter));
};
// The names most similar to an unknown name, by the pairs of letters that they share.
export const alike = (named, text) => {
  const asked = pairsOf(text);
  const shared = ({ label }) =>
    [...pairsOf(label)].filter((pair) => asked.has(pair)).length /
    (pairsOf(label).size + asked.size);
  return [...named].sort((a, b) => shared(b) - shared(a)).slice(0, NEAREST);
};

const spaced = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, " ");
const processorFor = ({ machines, processors }, text) => {
  const same = ({ label, kind }) => kind === "cpu" && spaced(text) === spaced(label);
  const exact = machines.find(same);
  const names = Object.entries(processors);
  const [name] =
    names.find(([, words]) => words.some((word) => text.includes(word))) ?? names.at(-1);
  return exact ?? machines.find(({ label }) => label === name);
};

// The listed machine that a read machine means; `instead` says why it is another one, `nearest` has
// the names to choose from if nothing is known of it.
export const machineFor = (data, { cards, processor, ram_gib, unknown }, text) => {
  const { machines } = data;
  const total = cards.reduce((sum, { count, gib }) => sum + count * (gib ?? 0), 0);
  const part = unknown.join(", ");
  const strange = part && part !== text ? `“${part}” is not a known card` : null;
  if (cards.length && cards.every(({ key }) => key !== null) && !strange) {
    const [{ key, count }] = cards;
    const listed = indexOf(data).cards.get(signOf(cards));
    if (listed) {
      const machine = total ? ofSize(listed, total) : listed[0];
      const same = !total || machine.memory === null || machine.memory === total;
      return { machine, instead: same ? null : `${total} GB of it are not listed` };
    }
    for (let less = count - 1; cards.length === 1 && less > 0; less--) {
      const fewer = indexOf(data).cards.get(`${less} ${key}`);
      if (fewer) return { machine: fewer[0], instead: `${count} of them are not listed` };
    }
    const each = cards.flatMap((card) => indexOf(data).cards.get(`1 ${card.key}`) ?? []);
    return { nearest: each, why: "different cards together are answered by the terminal" };
  }
  const classes = machines.filter(({ kind }) => kind === "memory");
  if (total && cards.every(({ key }) => key === null)) {
    const machine = ofSize(classes, total);
    const known = strange ?? (machine.memory === total ? null : `${total} GB are not listed`);
    return { machine, instead: known && `${known}; its speed is a guess` };
  }
  if (processor && !strange) {
    const machine = processorFor(data, text.trim().toLowerCase());
    return {
      machine,
      instead: spaced(machine.label) === spaced(text.trim()) ? null : "the nearest processor",
    };
  }
  if (ram_gib && !strange) return { machine: processorFor(data, ""), instead: "no card is named" };
  return { nearest: alike(machines, text), why: strange };
};

// The listed model that a read model means; else the most reported one of its size.
export const modelFor = (data, { slug, parameters_b, written }) => {
  const own = indexOf(data).models.get(slug);
  if (own) return { model: own };
  if (parameters_b === null) return { nearest: written.trim() ? alike(data.models, written) : [] };
  const off = ({ parameters }) => Math.abs(Math.log(parameters / (parameters_b * 1e9)));
  const kind = data.models.filter(
    ({ mixture, parameters }) => parameters && mixture === MIXTURE.test(slug),
  );
  const near = kind.filter((each) => off(each) <= NEAR);
  const [model] = near.length
    ? near.sort((a, b) => b.people - a.people)
    : kind.sort((a, b) => off(a) - off(b));
  const named = !/^[\d.]+[bm](?:-a[\d.]+b)?$/.test(slug);
  return {
    model,
    instead: named
      ? `${written} is not listed: a model of ${parameters_b}B, whose shape is not known`
      : "the most reported of its size",
  };
};

// The parts of a question that were understood, with what they are called. The answers of the page
// are for usual weights and a context of 4,096 tokens; other parts are for the terminal.
export const partsOf = ({ typed, found, named }) => {
  const { machine, model, engine, context_tokens: context, unknown } = typed;
  const words = [...unknown, ...(model?.unknown ?? [])];
  const spare = (words.length ? words : machine.unknown).join(" ");
  return [
    [found.machine?.label, "Machine"],
    [named.model?.label, "Model"],
    [model?.quantisation, "Weights, for the terminal"],
    [context && `${context} tokens`, "Context, for the terminal"],
    [engine, "Engine, for the terminal"],
    [machine.ram_gib && `${machine.ram_gib} GB RAM`, "For the terminal"],
    [spare, "Not understood"],
  ].filter(([text]) => text);
};
