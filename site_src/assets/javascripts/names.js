// Read cards, machines, models and whole questions as people write them. The same algorithm as
// `answers/names.py`, over the same table; the tests read one list of spellings with both.
import { namedIn, scan } from "./model_names.js";

const SIZE = /^(?:size|main)$/;
const LEFT = /word|variant|maker/; // what nothing explains
const first = (tokens, kind) => tokens.find((token) => token.kind === kind);
const textOf = (tokens) => tokens.map(({ text }) => text).join(" ");

// The card of a token; it is no card of the table if a word beside it makes it another one.
const spotAt = ({ cards, patterns }, tokens, at) => {
  const { meant } = tokens[at];
  const named = meant.map((each) => cards[each]);
  const [[, maker, , , shares]] = named;
  const before = tokens[at - 1];
  const after = tokens.slice(at + 1).find(({ kind }) => kind !== "noise" && !SIZE.test(kind));
  const words = [before, after].filter((x) => x?.kind === "variant" && x.meant[0].includes(maker));
  if (before?.kind === "maker" && !before.meant[0].includes(maker)) words.push(before);
  if (after?.kind === "word" && new RegExp(patterns.chip).test(after.text)) words.push(after);
  const laptop = first(tokens, "laptop");
  const rows = laptop ? named.map((row) => cards[row[5]]).filter(Boolean) : named;
  if (!rows.length) words.push(laptop);
  const text = textOf(tokens.filter((token, place) => place === at || words.includes(token)));
  return { text, meant, rows: words.length ? [] : rows, sizes: [], shares };
};
// The names of cards; the same name again is the same card, unless words separate it.
const spotsIn = (table, tokens) => {
  const places = [...tokens.keys()].filter((at) => tokens[at].kind === "card");
  const spots = [];
  for (const [number, at] of places.entries()) {
    const before = tokens.slice(number && places[number - 1] + 1, at);
    const after = tokens.slice(at + 1, places[number + 1]);
    const kinds = before.map(({ kind }) => kind).join(" ");
    const count = before.findLast(({ kind }) => kind === "count")?.value ?? 1;
    const last = spots.at(-1);
    if (`${last?.meant}` === `${tokens[at].meant}` && (last.shares || !LEFT.test(kinds))) {
      const several = /^[^(]*[+][^(]*$/.test(kinds) && !last.shares;
      last.count = several ? last.count + count : Math.max(last.count, count);
    } else if (last && kinds.includes("/"))
      Object.assign(last, { text: `${last.text} / ${tokens[at].text}`, rows: [] }); // a choice
    else spots.push({ ...spotAt(table, tokens, at), count });
    const own = spots.at(-1);
    own.count = after.findLast(({ kind }) => kind === "times")?.value ?? own.count;
    own.sizes.push(...[...(number ? [] : before), ...after].filter(({ kind }) => SIZE.test(kind)));
  }
  if (spots.length === 1 && spots[0].count === 1)
    spots[0].count = first(tokens.slice(places.at(-1)), "count")?.value ?? 1;
  return spots;
};
// The card of this size and main memory, given the sum of all cards' memories: more than twice
// the memory of a card is neither a size of it nor of a changed one.
const cardOf = ({ rows, count, sizes, shares }, total) => {
  const most = Math.max(2 * (rows[0]?.[2] || Infinity), total, ...(rows[0]?.[3] ?? []));
  const own = sizes.find(({ kind, value }) => shares || (kind === "size" && value <= most));
  const gib = own?.value ?? null;
  const ram = sizes.find((x) => x !== own && !shares && ![gib, gib * count].includes(x.value));
  const fits = rows.filter(([, , , [named]]) => !(gib && named) || named === gib);
  const row = fits.find(([, , , [named]]) => gib && named) ?? fits[0];
  const sum = row && gib === total && total > row[2] && row[2] > 0 && !row[3].includes(gib);
  const card = { key: row?.[0] ?? null, count, gib: sum ? null : gib };
  return { card: row || (gib && !shares) ? card : null, ram: ram?.value };
};
const machineOf = (table, tokens) => {
  const spots = spotsIn(table, tokens);
  const total = spots.reduce((sum, { rows: [row], count }) => sum + (row?.[2] ?? 0) * count, 0);
  const named = spots.map((spot) => cardOf(spot, total));
  const unknown = spots.filter((_, at) => !named[at].card?.key).map(({ text }) => text);
  const parts = textOf(tokens.map((x) => (LEFT.test(x.kind) ? x : { text: "|" }))).split("|");
  const strange = parts.filter((part) => new RegExp(table.patterns.chip).test(part.trim()));
  for (const part of strange.map((x) => x.trim()))
    if (!unknown.join(" ").includes(part)) unknown.push(part);
  let cards = named.map(({ card }) => card).filter(Boolean);
  const loose = spots.length ? [] : tokens; // no card's
  let ram = named.map((each) => each.ram).find(Boolean) ?? first(loose, "main")?.value ?? null;
  const sizes = loose.filter(({ kind }) => kind === "size").map(({ value }) => value);
  const alone = sizes.length ? Math.max(...sizes) : null;
  const processors = tokens.filter(({ kind }) => kind === "processor");
  if (alone && (unknown.length || !processors.length))
    cards = [{ key: null, count: first(tokens, "count")?.value ?? 1, gib: alone }];
  if (!cards.length && !unknown.length) {
    ram ??= alone;
    const words = textOf(processors)
      .split(" ")
      .map((text) => ({ kind: "word", text }));
    const row = table.cards[first(namedIn(table, words), "card")?.meant[0]]; // its own graphics
    if (row?.[4]) cards = [{ key: row[0], count: 1, gib: ram }];
  }
  const shares = ({ key }) => table.cards.find(([known]) => known === key)?.[4];
  const ram_gib = cards.length && cards.every(shares) ? null : ram;
  return { cards, ram_gib, processor: processors[0]?.text ?? null, unknown };
};

export const readModel = (table, text) => scan(table, text).model;
export const read = (table, text) => {
  const { tokens, named, model } = scan(table, text);
  const written = [model.slug, model.quantisation].filter(Boolean).join(":");
  return {
    machine: machineOf(table, tokens),
    model: named ? { ...model, written } : null,
    engine: first(tokens, "engine")?.meant[0] ?? null,
    context_tokens: first(tokens, "context")?.value ?? null,
    task: first(tokens, "task")?.meant[0] ?? null,
    unknown: tokens.filter(({ kind }) => /^(?:word|variant)$/.test(kind)).map((x) => x.text),
  };
};
