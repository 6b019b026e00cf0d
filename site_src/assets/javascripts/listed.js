// The listed machine and model that a read name means (`names.js` reads). A card or model that is
// not listed is answered as the nearest thing that is known of it: its memory, its size.
import { machineName } from "./answerdata.js";

export const USUAL_RAM_GIB = 32;
const NEAREST = 3;
const NEAR = 0.12; // 27B and 28B are one size
const MIXTURE = /(?:^|-)a\d|\d+x\d|(?:^|-)moe(?:-|$)/;

// Of one card in several sizes, choose the largest size up to the stated one, else the smallest.
const ofSize = (machines, gib) => {
  const sized = machines.filter(({ memory }) => memory !== null);
  const sorted = sized.sort((a, b) => a.memory - b.memory);
  return sorted.findLast(({ memory }) => memory <= gib) ?? sorted[0] ?? machines[0];
};

const pairsOf = (text) => {
  const joined = text.toLowerCase().replace(/[^a-z0-9.]/g, "");
  return new Set([...joined].slice(1).map((letter, at) => joined[at] + letter));
};
// The names most similar to an unknown name, by the pairs of letters that they share.
const alike = (named, text) => {
  const asked = pairsOf(text);
  const shared = ({ label }) => {
    const own = pairsOf(label);
    return [...own].filter((pair) => asked.has(pair)).length / (own.size + asked.size);
  };
  return [...named].sort((a, b) => shared(b) - shared(a)).slice(0, NEAREST);
};

const spaced = (text) =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, " ")
    .trim();
const processorFor = ({ machines, processors }, text) => {
  const names = Object.entries(processors);
  const like = names.find(([, words]) => words.some((word) => text.toLowerCase().includes(word)));
  const [name] = like ?? names.at(-1);
  return machines.find(({ label }) => label === name);
};
// The listed machine of these cards, of fewer of them, or what to choose from.
const cardsFor = (machines, cards, total) => {
  const listed = (few) => {
    const sign = few.map(({ count, key }) => `${count} ${key}`).join(" + ");
    return machines.filter((machine) => machine.cards === sign);
  };
  const same = listed(cards);
  const machine = total ? ofSize(same, total) : same[0];
  const exact = !total || [null, total].includes(machine?.memory);
  if (machine) return { machine, instead: exact ? null : `${total} GB of it are not listed` };
  const [{ count, key }] = cards;
  for (let less = count - 1; cards.length === 1 && less > 0; less--) {
    const [fewer] = listed([{ count: less, key }]);
    if (fewer) return { machine: fewer, instead: `${count} of them are not listed` };
  }
  const nearest = cards.flatMap((card) => listed([{ count: 1, key: card.key }]));
  return { nearest, why: "different cards together are answered by the terminal" };
};

// The listed machine that a read machine means; `instead` says why it is another one, `nearest` has
// the names to choose from if nothing is known of it.
export const machineFor = (data, { cards, processor, ram_gib, unknown }, text) => {
  const { machines, names } = data;
  const total = cards.reduce((sum, { count, gib }) => sum + count * (gib ?? 0), 0);
  const same = ({ label, kind }) => kind === "cpu" && spaced(label) === spaced(text);
  if (machines.some(same)) return { machine: machines.find(same), instead: null };
  const strange = unknown.length ? `“${unknown.join(", ")}” is not a known card` : null;
  const named = cards.flatMap(({ key }) => key ?? []);
  const isListed = machines.some(({ cards: sign }) => named.some((key) => sign === `1 ${key}`));
  if (named.length && named.length === cards.length && isListed && !strange)
    return cardsFor(machines, cards, total);
  const usual = ({ count, key, gib }) =>
    count * (gib ?? names.cards.find((card) => card.key === key)?.own ?? 0);
  const memory = cards.reduce((sum, card) => sum + usual(card), 0);
  if (memory && !(named.length && isListed)) {
    const classes = machines.filter(({ kind }) => kind === "memory");
    const machine = ofSize(classes, memory);
    const few = machine.memory === memory ? null : `${memory} GB are not listed`;
    const known = strange ?? (named.length ? `${named.join(" + ")} is not listed` : few);
    return { machine, instead: known && `${known}; its speed is a guess` };
  }
  if ((processor || ram_gib) && !strange) {
    const instead = processor ? "the nearest processor" : "no card is named";
    return { machine: processorFor(data, text), instead };
  }
  return { nearest: alike(machines, text), why: strange };
};

// The listed model that a read model means; else the most reported one of its size.
export const modelFor = ({ models }, { slug, parameters_b: size, written }) => {
  const own = models.find(({ label }) => label.toLowerCase().replaceAll(" ", "-") === slug);
  if (own) return { model: own };
  if (size === null) return { nearest: written.trim() ? alike(models, written) : [] };
  const off = ({ parameters }) => Math.abs(Math.log(parameters / (size * 1e9)));
  const kind = models.filter((each) => each.parameters && each.mixture === MIXTURE.test(slug));
  const near = kind.filter((each) => off(each) <= NEAR).sort((a, b) => b.people - a.people);
  const [model] = near.length ? near : kind.sort((a, b) => off(a) - off(b));
  const named = !/^[\d.]+[bm](?:-a[\d.]+b)?$/.test(slug);
  const shape = `${written} is not listed: a model of ${size}B, whose shape is not known`;
  return { model, instead: named ? shape : "the most reported of its size" };
};

// The parts of the question that the answer is about, each with the field that changes it, and what
// is only assumed of it. Answers of the page are for usual weights in llama.cpp.
export const partsOf = ({ typed, found, named, task, ram }, answer) => {
  const { machine, model, engine, context_tokens: context, unknown } = typed;
  const words = [...unknown, ...(model?.unknown ?? [])];
  const spare = (words.length ? words : machine.unknown).join(" ");
  const own = answer?.quantisation === model?.quantisation;
  const memory = found.machine?.kind !== "cpu" && (Number(ram) || machine.ram_gib);
  return [
    [found.machine && machineName(found.machine), "", "card"],
    [named.model?.label, "", model ? "model" : "card"],
    [answer?.quantisation, own ? "" : "usual here"],
    [answer && "llama.cpp", engine === "llama.cpp" ? "" : "assumed"],
    [answer && `${memory || USUAL_RAM_GIB} GB main memory`, memory ? "" : "assumed", "ram"],
    [answer && (task === "all" ? "all tasks" : task), "", "for"],
    [!own && model?.quantisation, "only in the terminal"],
    [engine !== "llama.cpp" && engine, "only in the terminal"],
    [context && `${context} tokens`, "only in the terminal"],
    [spare, "not understood", "card"],
  ].filter(([text]) => text);
};
