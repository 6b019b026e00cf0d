// The listed machines and models, and the table of names, for every script that asks about them.
import { read } from "./dom.js";
import { parts } from "./model_names.js";

// The names, loaded once; the file of a model is loaded with the first question about it.
const loaded = new Map();
export const once = (url) => {
  if (!loaded.has(url)) loaded.set(url, read(url));
  return loaded.get(url);
};
// The meaning of each spelling, from the spellings of each card and of each other meaning, and the
// models by the parts of their names.
export const unpacked = ({ spelled, slugs, ...table }) => {
  const keys = {};
  for (const [meant, words] of Object.entries(table.keys))
    for (const word of words.split(" ")) keys[word] = meant;
  for (const [at, words] of spelled.entries()) {
    const name = table.cards[at][0].replace(/\b\d+gb\b|[^a-z0-9.]/g, "");
    for (const word of `${name} ${words}`.match(/\S+/g))
      keys[word] = `${keys[word] ?? "card"} ${at}`;
  }
  const known = table.cards.map(([name]) => name);
  const cards = table.cards.map((card, at) => {
    const [name, maker, , , shares] = card;
    const own = shares || maker === "m" || /laptop|[0-9]m\b/.test(name) ? at : -1;
    const laptop = known.indexOf(`${name} laptop`); // the chip of a laptop under this name
    return [...card, laptop < 0 ? own : laptop];
  });
  const plural = new RegExp(table.patterns.plural);
  for (const [word, meant] of Object.entries(keys))
    if (/^card/.test(meant) && plural.test(word)) keys[`${word}s`] ??= meant;
  const own = slugs.split(" ").map((slug) => [parts(slug), slug]);
  const short = {}; // a mixture without its total or its active size, if one model fits
  for (const [, slug] of own)
    for (const size of [/-a\d[\d.]*b(?=-|$)/, /-\d[\d.]*b(?=-a\d)/]) {
      const name = parts(slug.replace(size, ""));
      short[name] = [slug, undefined].includes(short[name]) ? slug : null;
    }
  for (const [name, slug] of Object.entries(short)) if (!slug) delete short[name];
  return {
    ...table,
    cards,
    keys,
    models: { ...short, ...table.models, ...Object.fromEntries(own) },
  };
};
// The cards that a machine's name states: `2 rtx 3090` for `2 × RTX 3090`.
const signOf = (label) => {
  const [, count, name] = label.toLowerCase().match(/^(?:(\d+) × )?(.*?)(?: \d+ gb)?$/);
  return `${count ?? 1} ${name}`;
};
export const load = async ({ answers, names, root }) => {
  const table = names && once(names).then(unpacked);
  const index = await once(`${answers}index.json`);
  const machines = index.machines.map(
    ([label, memory, kind, cards, free, device, reach], number) => {
      const id = device === true ? machineName({ label, memory }).toLowerCase() : device;
      return {
        ...{ label, memory, kind, free, reach, number, id: id?.replace(/[^a-z0-9]+/g, "-") },
        cards: cards === true ? signOf(label) : cards,
      };
    },
  );
  const models = index.models.map(([id, label, parameters, mixture, people, page]) => ({
    ...{ id, label, parameters, mixture, people, page },
  }));
  return { ...index, machines, models, names: await table, folder: answers, root };
};

export const machineName = ({ label, memory }) =>
  memory && !/\d ?GB/.test(label) ? `${label} ${memory} GB` : label;
