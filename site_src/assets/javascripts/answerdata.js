// The listed machines and models, and the table of names, for every script that asks about them.
import { read } from "./dom.js";
import { unpacked } from "./names.js";

// The names, loaded once; the file of a model is loaded with the first question about it.
const loaded = new Map();
export const once = (url) => {
  if (!loaded.has(url)) loaded.set(url, read(url));
  return loaded.get(url);
};
// The cards that a machine's name states: `2 rtx 3090` for `2 × RTX 3090`.
const signOf = (label) => {
  const [, count, name] = label.toLowerCase().match(/^(?:(\d+) × )?(.*?)(?: \d+ gb)?$/);
  return `${count ?? 1} ${name}`;
};
export const load = async ({ answers, names, root }) => {
  const table = names && once(names).then(unpacked);
  const index = await once(`${answers}index.json`);
  const machines = index.machines.map(([label, memory, kind, cards, device, reach], number) => {
    const id = device === true ? machineName({ label, memory }).toLowerCase() : device;
    return {
      ...{ label, memory, kind, reach, number, id: id?.replace(/[^a-z0-9]+/g, "-") },
      cards: cards === true ? signOf(label) : cards,
    };
  });
  const models = index.models.map(([id, label, parameters, mixture, people, page]) => ({
    ...{ id, label, parameters, mixture, people, page },
  }));
  return { ...index, machines, models, names: await table, folder: answers, root };
};

export const machineName = ({ label, memory }) =>
  memory && !/\d ?GB/.test(label) ? `${label} ${memory} GB` : label;
