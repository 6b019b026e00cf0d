// Read cards, machines, models and whole questions as people write them. The same algorithm as
// `answers/names.py`, over the same table; the tests read one list of spellings with both.
import { namedIn, quantisationIn, scan } from "./model_names.js";

const SIZE = /^(?:size|main)$/;
const LEFT = /^(?:word|variant|maker)$/; // what nothing explains
const first = (tokens, kind) => tokens.find((token) => token.kind === kind);
const textOf = (tokens) => tokens.map(({ text }) => text).join(" ");

// The card of a token; it is no card of the table if a word beside it makes it another one.
const spotAt = ({ cards, patterns }, tokens, at, count) => {
  const named = tokens[at].meant.map((each) => cards[each]);
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
  const { meant } = tokens[at];
  return { text, meant, rows: words.length ? [] : rows, count, sizes: [], shares };
};
// The names of cards; the same name again is the same card, unless words separate it.
const spotsIn = (table, tokens) => {
  const spots = [];
  let since = []; // the last card
  for (const [at, token] of tokens.entries()) {
    const last = spots.at(-1);
    const has = (kinds) => since.some(({ kind }) => kinds.test(kind));
    if (token.kind === "card") {
      const count = since.findLast(({ kind }) => kind === "count")?.value ?? 0;
      if (`${last?.meant}` === `${token.meant}` && !has(LEFT)) {
        const several = has(/^[+]/) && !has(/^[(]/) && !last.shares;
        last.count = several ? last.count + (count || 1) : Math.max(last.count, count);
      } else if (last && has(/^[/]/)) {
        Object.assign(last, { text: `${last.text} / ${token.text}`, rows: [] }); // a choice
      } else spots.push(spotAt(table, tokens, at, count || 1));
      if (!last) spots[0].sizes.push(...since.filter(({ kind }) => SIZE.test(kind)));
      since = [];
    } else {
      since.push(token);
      if (token.kind === "times" && last) last.count = token.value;
      if (SIZE.test(token.kind)) last?.sizes.push(token);
    }
  }
  if (spots.length === 1 && spots[0].count === 1)
    spots[0].count = first(since, "count")?.value ?? 1;
  return spots;
};
// The card of this size and main memory, given the sum of all cards' memories.
const cardOf = ({ rows, count, sizes, shares }, total) => {
  const own = sizes.find(({ kind }) => kind === "size" || shares);
  const gib = own?.value ?? null;
  const ram = sizes.find((x) => x !== own && !shares && ![gib, gib * count].includes(x.value));
  const fits = rows.filter(([, , , [named]]) => !(gib && named) || named === gib);
  const row = fits.find(([, , , [named]]) => gib && named) ?? fits[0];
  const sum = row && gib === total && total > row[2] && row[2] > 0 && !row[3].includes(gib);
  const card = { key: row?.[0] ?? null, count, gib: sum ? null : gib };
  return { card: row || (gib && !shares) ? card : null, ram: ram?.value };
};
const machineOf = (table, tokens) => {
  const { cards: listed, patterns } = table;
  const spots = spotsIn(table, tokens);
  const total = spots.reduce((sum, { rows: [row], count }) => sum + (row?.[2] ?? 0) * count, 0);
  const named = spots.map((spot) => cardOf(spot, total));
  const unknown = spots.filter((_, at) => !named[at].card?.key).map(({ text }) => text);
  const parts = textOf(tokens.map((x) => (LEFT.test(x.kind) ? x : { text: "|" }))).split("|");
  const strange = parts.map((part) => part.trim()).filter((x) => new RegExp(patterns.chip).test(x));
  unknown.push(...strange.filter((part) => !unknown.join(" ").includes(part)));
  let cards = named.map(({ card }) => card).filter(Boolean);
  const loose = spots.length ? [] : tokens; // no card's
  let ram = named.map((each) => each.ram).find(Boolean) ?? first(loose, "main")?.value ?? null;
  const sizes = loose.filter(({ kind }) => kind === "size").map(({ value }) => value);
  const alone = sizes.length ? Math.max(...sizes) : null;
  const processor = first(tokens, "processor")?.text ?? null;
  const plain = textOf(tokens);
  if (alone && !new RegExp(patterns.mac).test(plain) && (unknown.length || !processor))
    cards = [{ key: null, count: first(tokens, "count")?.value ?? 1, gib: alone }];
  if (!cards.length && !unknown.length) {
    ram ??= alone;
    const words = (processor ?? "").split(" ").map((text) => ({ kind: "word", text }));
    const row = listed[first(namedIn(table, words), "card")?.meant[0]]; // the processor's own
    if (row?.[4]) cards = [{ key: row[0], count: 1, gib: ram }];
  }
  const shares = ({ key }) => listed.find(([known]) => known === key)?.[4];
  const by_word = new RegExp(patterns.processor_word).test(plain) ? "cpu" : null;
  const ram_gib = cards.length && cards.every(shares) ? null : ram;
  return { cards, ram_gib, processor: processor ?? by_word, unknown };
};

export const readModel = (table, text) => {
  const { slug, spare: unknown } = scan(table, text);
  const [one, ...more] = slug.matchAll(/(?:^|-)e?(\d+(?:\.\d+)?)([bm])(?=-|$)/g);
  const quantisation = quantisationIn(table, text)?.label ?? null;
  const repository = text.match(new RegExp(table.patterns.repository))?.[1] ?? null;
  const parameters_b = one && !more.length ? one[1] / (one[2] === "m" ? 1000 : 1) : null;
  return { slug, quantisation, repository, parameters_b, written: text, unknown };
};
export const read = (table, text) => {
  const { tokens, named } = scan(table, text);
  const model = readModel(table, text);
  const repository = scan(table, model.repository ?? "").named ? model.repository : null;
  const written = [repository ?? model.slug, model.quantisation].filter(Boolean).join(":");
  return {
    machine: machineOf(table, tokens),
    model: named ? { ...model, repository, written } : null,
    engine: first(tokens, "engine")?.meant[0] ?? null,
    context_tokens: first(tokens, "context")?.value ?? null,
    task: first(tokens, "task")?.meant[0] ?? null,
    unknown: tokens.filter(({ kind }) => /^(?:word|variant)$/.test(kind)).map((x) => x.text),
  };
};
