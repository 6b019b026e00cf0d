// The file of all cells, the rows that a choice leaves, and the start of a tool that shows them.
import { el, read } from "./dom.js";
import { classOf, fitsSize, has, spread } from "./terms.js";

const FORMAT = "draftmap-explore";
const VERSION = 1;
// The facets in which a word of the search may occur.
const SEARCHED =
  "device vendor vram backend engine target size quant method draft task verdict".split(" ");
const ALL_TASKS = "all";
const MISSING = 2 ** 33; // above every figure; times the row count, it fits a double

export const load = async ({ cells, vocabulary }) => {
  const [words, file] = await Promise.all([
    read(vocabulary, "the file of the words"),
    read(cells, "the file of the cells"),
  ]);
  const usualEngine = words.runners[words.default_runner].engine_label.replaceAll(" ", "-");
  return { ...decode(file), words, usualEngine };
};

// Typed arrays: a filter reads 50,000 small numbers per column, not 50,000 objects.
export const decode = (file) => {
  if (file.format !== FORMAT || file.version !== VERSION)
    throw new Error("the file of the cells has another format");
  const facets = {};
  for (const [name, { keys, labels = keys, pages, options, index }] of Object.entries(
    file.facets,
  )) {
    const numbers = new Map(keys.map((key, number) => [key, number]));
    facets[name] = { keys, labels, pages, options, numbers, index: Uint32Array.from(index) };
  }
  const figures = {};
  for (const [name, { digits, spare, values }] of Object.entries(file.figures)) {
    figures[name] = { digits, spare, values: Float64Array.from(values, (value) => value ?? NaN) };
  }
  return { rows: file.rows, facets, figures, orders: new Map() };
};

// The words and figures of one row.
export const key = (cells, name, row) => cells.facets[name].keys[cells.facets[name].index[row]];
export const label = (cells, name, row) => cells.facets[name].labels[cells.facets[name].index[row]];
// Most results come from one engine, so only other engines are named.
export const isUsual = (cells, row) => key(cells, "engine", row) === cells.usualEngine;
export const page = (cells, name, row) =>
  (cells.facets[name].pages ?? cells.facets[name].keys)[cells.facets[name].index[row]];
export const figure = (cells, name, row) => {
  const { values, digits, spare } = cells.figures[name];
  return values[row] / 10 ** (digits + spare);
};
export const printed = (cells, name, row) => {
  const { values, digits, spare } = cells.figures[name];
  return Number.isNaN(values[row])
    ? null
    : (Math.round(values[row] / 10 ** spare) / 10 ** digits).toFixed(digits);
};

// All rows sorted by a column, equal rows in the file's order; missing figures come last in both
// directions. Value and row make one number, because sorting numbers without a comparison function
// is fast.
export const order = (cells, column, falling) => {
  const name = `${column} ${falling}`;
  if (!cells.orders.has(name)) {
    const values = cells.facets[column]?.index ?? cells.figures[column].values;
    const sign = falling ? -1 : 1;
    const keys = Float64Array.from(
      values,
      (value, row) => (Number.isNaN(value) ? MISSING : sign * value) * cells.rows + row,
    );
    keys.sort();
    cells.orders.set(
      name,
      Uint32Array.from(keys, (each) => ((each % cells.rows) + cells.rows) % cells.rows),
    );
  }
  return cells.orders.get(name);
};

// The values of a facet that may stay: the chosen value; without a choice, each single task.
const allowed = (cells, name, chosen) => {
  const { keys } = cells.facets[name];
  if (chosen) return Uint8Array.from(keys, (each) => each === chosen);
  if (name === "task" && keys.length > 1)
    return Uint8Array.from(keys, (each) => each !== ALL_TASKS);
  return null;
};

// The labels of a facet, prepared for searching.
const searchable = (cells, name) => {
  const facet = cells.facets[name];
  facet.spread ??= facet.labels.map((label) => spread(label));
  return facet.spread;
};

const place = (cells, name, fits) => {
  const { index, keys } = cells.facets[name];
  return { index, mask: Uint8Array.from(keys, (each, number) => fits(each, number)) };
};

// A memory means the card's memory; a chip that shares main memory matches any memory. A size means
// the model's size or, if no model has that size, its size class. A word must begin a word of any
// label.
const places = (cells, term) => {
  if (term.memory !== undefined)
    return [
      place(
        cells,
        "vram",
        (each) => each === String(term.memory) || (term.beside && each === "none"),
      ),
    ];
  if (term.size) {
    const named = searchable(cells, "target");
    const own = place(cells, "target", (_, number) =>
      fitsSize(term.size, named[number].size?.parameters),
    );
    if (own.mask.includes(1)) return [own];
    const sizes = Object.values(cells.words.sizes);
    const id = sizes[classOf(sizes, term.size)]?.id;
    return [place(cells, "size", (each) => each === id)];
  }
  return SEARCHED.map((name) =>
    place(cells, name, (_, number) => has(searchable(cells, name)[number], term)),
  );
};

const fits = (found, row) => {
  for (const { index, mask } of found) if (mask[index[row]]) return true;
  return false;
};

// The rows that every term fits; null if nothing is searched for.
const searched = (cells, terms) => {
  if (!terms.length) return null;
  const found = new Uint8Array(cells.rows).fill(1);
  for (const term of terms) {
    const used = places(cells, term).filter(({ mask }) => mask.includes(1));
    for (let row = 0; row < cells.rows; row++) if (found[row] && !fits(used, row)) found[row] = 0;
  }
  return found;
};

// The rows that fit, in the requested order, and for each value of a facet its number of rows under
// all other filters. One pass over the rows.
export const select = (cells, { choices, terms, counted, column, falling }) => {
  const names = [...new Set([...counted, ...Object.keys(choices)])];
  const counts = names.map((name) => new Uint32Array(cells.facets[name].keys.length));
  const indexes = names.map((name) => cells.facets[name].index);
  const active = names
    .map((name, number) => ({
      number,
      index: indexes[number],
      mask: allowed(cells, name, choices[name]),
    }))
    .filter(({ mask }) => mask);
  const matching = searched(cells, terms);
  const rows = new Uint32Array(cells.rows);
  let length = 0;
  for (const row of order(cells, column, falling)) {
    if (matching && !matching[row]) continue;
    let misses = 0;
    let missed = null;
    for (const facet of active) {
      if (facet.mask[facet.index[row]]) continue;
      missed = facet;
      if (++misses > 1) break;
    }
    if (misses === 0) {
      rows[length++] = row;
      for (let each = 0; each < indexes.length; each++) counts[each][indexes[each][row]]++;
    } else if (misses === 1) counts[missed.number][missed.index[row]]++;
  }
  return {
    rows: rows.subarray(0, length),
    counts: Object.fromEntries(names.map((name, each) => [name, counts[each]])),
  };
};

// Begin a form with its data when the visitor acts; going back restores it. Without the data, a line
// says what does not work.
export const begin = async (form, make, failure) => {
  if (!form || form.dataset.state) return;
  form.dataset.state = "waiting";
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  await window.visitor.acts;
  try {
    const page = await make(form);
    addEventListener("popstate", () => form.isConnected && page.restore());
  } catch ({ message }) {
    form.dataset.state = "failed";
    form.before(el("p", "dm-chart__error", failure(message)));
  }
};
