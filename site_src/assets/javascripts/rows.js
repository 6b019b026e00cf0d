// The figures of `assets/machine.json` as objects, and those of one view. Data only, no page.
"use strict";

const ALL = "all";

const read = async (url) => {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return answer.json();
};

export const load = async ({ machine, vocabulary, root }) => {
  const [file, words] = await Promise.all([read(machine), read(vocabulary)]);
  const { devices, models, strip_columns: columns } = file;
  const rows = file.strips.map((row) => {
    const found = Object.fromEntries(columns.map((name, at) => [name, row[at]]));
    return {
      ...found,
      device: devices[found.device],
      model: models[found.model],
    };
  });
  return { ...file, words, sizes: Object.values(words.sizes), rows, root };
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
