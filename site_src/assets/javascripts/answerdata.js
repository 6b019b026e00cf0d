// The listed machines and models, and the table of names, for every script that asks about them.
import { read } from "./dom.js";

// The names, loaded once; the file of a model is loaded with the first question about it.
const loaded = new Map();
export const once = (url) => {
  if (!loaded.has(url)) loaded.set(url, read(url));
  return loaded.get(url);
};
export const load = async ({ answers, names, root }) => {
  const [index, table] = await Promise.all([once(`${answers}index.json`), names && once(names)]);
  const machines = index.machines.map(
    ([label, memory, kind, bandwidth, shared, cards, free], number) => ({
      ...{ label, memory, kind, bandwidth, shared, cards, free, number },
    }),
  );
  return { ...index, named: index.words, machines, names: table, folder: answers, root };
};

export const machineName = ({ label, memory }) =>
  memory && !/\d ?GB/.test(label) ? `${label} ${memory} GB` : label;
