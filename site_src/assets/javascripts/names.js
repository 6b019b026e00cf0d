// Read cards, machines, models and whole questions as people write them. The same algorithm as
// `answers/names.py`, over the same table; the tests read one list of spellings with both.
import { lookup, quantisationIn, readModel, replaced, rulesOf, whole } from "./model_names.js";

export { readModel };

const KINDS = ["c", "#", "l", "e", "t", "k", "n"];
const NO_NAME = /^[#@+/(]/;
const has = (pattern, text) => text.search(pattern) >= 0;
const begins = (pattern, text) => text.search(pattern) === 0;
const plainOf = (rules, text) => {
  const short = [...text].slice(0, 200).join("");
  const bare = short.replace(/[®™]|\((?:R|TM|C)\)/gi, " ").normalize("NFKD");
  return replaced(rules, "plain", bare.toLowerCase()).trim();
};

// ---- the words of a text ------------------------------------------------------------------------
const HUB = /(?:[\w.~:-]{0,96}[/\\]){1,12}[\w.-]{1,96}(?::[\w.-]{1,96})?/g;
const hubIn = (rules, text) =>
  (text.match(HUB) ?? []).find((found) => {
    const name = found.toLowerCase().split(/[/\\]/).at(-1);
    return begins(rules.family, name) || /(?<![a-z0-9])\d[\d.]*b(?![a-z0-9])/.test(name);
  });
// `#3` is the third size, `@` a processor, `2x` and `x2` counts.
const tokensOf = (rules, text, seen) => {
  const quantised = quantisationIn(rules, text)?.written;
  const bare = quantised ? text.replace(quantised, " ") : text;
  const plain = replaced(rules, "before", plainOf(rules, bare))
    .replace(rules.no_gpu, " @ ")
    .replace(rules.processor, (name) => {
      seen.processor ??= name.trim();
      return " @ ";
    })
    .replace(rules.size, (_, before, n1, u1, n2, u2, after) => {
      const word = before ?? after ?? "";
      if (begins(rules.storage, word)) return " ";
      const gib = (n1 ?? n2) * ({ t: 1024, m: 1 / 1024 }[(u1 ?? u2)[0]] ?? 1);
      const ram = begins(rules.main_memory, word);
      return ` #${seen.sizes.push({ gib: Math.round(gib * 10) / 10, ram, at: 0 }) - 1} `;
    })
    .replace(rules.context, (_, thousands, tokens, named) => {
      seen.context = thousands ? Math.trunc(thousands * 1024) : Number(tokens ?? named);
      return " ";
    });
  const words = replaced(rules, "after", plain).match(/#\d+|[@+/(]|[a-z0-9.]+/g) ?? [];
  return words.map((word) => word.replace(/^\.+|\.+$/g, "")).filter(Boolean);
};
// The kind, meaning and end of the longest known spelling at a token.
const longest = (keys, tokens, at) => {
  for (let end = Math.min(tokens.length, at + 8); end > at; end--) {
    const part = tokens.slice(at, end);
    if (NO_NAME.test(part[0]) || NO_NAME.test(part.at(-1)) || /[@+]/.test(part.join(""))) continue;
    const word = part.filter((each) => !NO_NAME.test(each)).join("");
    const kind = KINDS.find((each) => Object.hasOwn(keys[each], word));
    if (kind) return [kind, keys[kind][word], end];
    const single = /\ds$/.test(word) && lookup(keys.c, word.slice(0, -1)); // "3090s"
    if (single) return ["c", single, end];
  }
  return ["", "", at + 1];
};
const scan = (table, text, sentence) => {
  const rules = rulesOf(table);
  const seen = { rules, text, sentence, sizes: [], processor: null, context: null };
  const tokens = tokensOf(rules, text, seen);
  const [spots, left, makers, words] = [[], new Set(), new Map(), {}];
  let [pending, laptop, model] = [0, false, []];
  const sized = (at) => whole(rules.parameters, tokens[at] ?? "");
  // The word before a token is of the same name by a hyphen, or before a size.
  const belongs = (at) => {
    const [before, token] = [tokens[at - 1] ?? "", tokens[at]];
    const hyphen = text.toLowerCase().includes(`${before}-${token}`);
    return /^[a-z]+$/.test(before) && (sized(at) || !whole(rules.family, token) || hyphen);
  };
  const ends = (at) => {
    const [kind] = longest(table.keys, tokens, at);
    const stops = /^[#@+(]/.test(tokens[at]) || whole(rules.stop, tokens[at]);
    return stops || /^[cek]$/.test(kind) || (/^[t#]$/.test(kind) && !sized(at + 1));
  };
  for (let at = 0, end; at < tokens.length; at = end) {
    const [token, last, before] = [tokens[at], spots.at(-1), tokens[at - 1]];
    const [kind, meant, next] = longest(table.keys, tokens, at);
    const first = sentence && !model.length && (whole(rules.family, token) || sized(at));
    end = next;
    if (first && /^n?$/.test(kind)) {
      let start = at;
      while (belongs(start) && left.delete(start - 1)) start--;
      for (end = at + 1; end < tokens.length && !ends(end); ) end++;
      model = tokens.slice(start, end);
    } else if (kind === "c") {
      const counts = !pending && /^[2-9]$/.test(before) && (at === 1 || tokens[at - 2] === "+");
      const own = counts && left.delete(at - 1) ? Number(before) : pending;
      const options = meant.split(" ").map(Number);
      const between = tokens.slice(last?.end, at);
      const same = last && `${last.options}` === `${options}`;
      if (same && !between.some((_, number) => left.has(last.end + number))) {
        const several = between.includes("+") && !between.includes("(");
        last.count = several ? last.count + (own || 1) : Math.max(last.count, own);
        last.end = last.reach = end;
      } else spots.push({ options, start: at, end, reach: end, count: own || 1, gib: null });
      pending = 0;
    } else if (kind === "#" || /^\d{1,2}x$/.test(token))
      pending = Number.parseInt(meant || token, 10);
    else if (kind === "e" || kind === "t") words[kind] ??= meant;
    else if (kind === "k") makers.set(at, meant);
    else if (kind === "l") laptop = true;
    else if (kind) {
      if (last?.reach === at) last.reach = end;
    } else if (whole(rules.count, token)) last && (last.count = Number(token.slice(1)));
    else if (token[0] === "#") seen.sizes[token.slice(1)].at = at;
    else if (last?.reach === at && last.gib === null && whole(rules.bare_gib, token))
      last.gib = Number(token); // "m3 max 64", "rtx 3060 12"
    else if (!NO_NAME.test(token)) left.add(at);
  }
  return { ...seen, tokens, spots, left, makers, words, pending, laptop, model };
};

// ---- machines -----------------------------------------------------------------------------------
// Give each size to the card before it, else to the next card, else to main memory.
const attach = (cards, { sizes, spots, tokens }) => {
  const total = () => spots.reduce((sum, { gib, count }) => sum + gib * count, 0);
  const found = { ram: null, alone: [] };
  for (const { gib, ram, at } of sizes) {
    const spot = spots.findLast(({ start }) => start < at) ?? spots[0];
    const shares = spot && cards[spot.options[0]][5];
    const main = ram || tokens[at - 1] === "@";
    if (main && !(shares && spot.gib === null)) found.ram ??= gib;
    else if (!spot) found.alone.push(gib);
    else if (spot.gib === null) spot.gib = gib;
    else if (!shares && gib !== spot.gib && gib !== total()) found.ram ??= gib;
  }
  return found;
};
// Words directly beside a card that make it another: a variant, its number, or another maker.
const beside = (table, { rules, tokens, left, makers }, spot, maker) => {
  let [before, after] = [spot.start - 1, spot.end];
  while (tokens[after]?.[0] === "#") after++;
  const differs = (at) =>
    table.variants[maker].includes(tokens[at]) || (at === after && whole(rules.chip, tokens[at]));
  const found = [before, after].filter((at) => left.has(at) && differs(at)).map((at) => tokens[at]);
  for (; makers.has(before); before--)
    if (!makers.get(before).includes(maker)) found.push(tokens[before]);
  return found;
};
const cardOf = (table, seen, { options, start, end, count, gib }, unknown) => {
  const rows = options.map((at) => table.cards[at]);
  const fits = rows.filter(([, , , named]) => named === 0 || named === gib);
  const sized = fits.filter(([, , , named]) => gib && named);
  let card = sized[0] ?? fits[0] ?? (gib ? null : rows[0]);
  const words = beside(table, seen, { start, end }, rows[0][1]);
  if (card && seen.laptop) {
    const [key, maker, , , , shares, laptop] = card;
    const same = shares || maker === "m" || /laptop|\dm\b/.test(key) ? card : null;
    card = table.cards[laptop] ?? same;
    if (!card) words.push("laptop");
  }
  if (card && !words.length) return { key: card[0], count, gib };
  const part = seen.tokens.slice(start, end).filter((each) => !NO_NAME.test(each));
  unknown.push([...new Set([...part, ...words])].join(" "));
  return gib && !rows[0][5] ? { key: null, count, gib } : null;
};
// The cards with a count that came later; the sum of their sizes is not the last one's size.
const eachOf = (table, cards, pending) => {
  const last = cards.at(-1);
  if (pending && cards.length === 1 && last.count === 1) last.count = pending;
  const rows = cards.map(({ key }) => table.cards.find(([known]) => known === key));
  const sum = cards.reduce((all, { count }, at) => all + (rows[at]?.[2] ?? 0) * count, 0);
  const several = cards.length > 1 || last?.count > 1;
  if (several && rows.every((row) => row?.[2]) && last.gib === sum)
    if (![rows.at(-1)[3], ...rows.at(-1)[4]].includes(sum)) last.gib = null;
  return cards;
};
// Words that look like a card's number and are in no table, with the words before them.
const chips = ({ rules, tokens, left, makers }) =>
  [...left].flatMap((at) => {
    if (!whole(rules.chip, tokens[at])) return [];
    let [start, end] = [at, at + 1];
    while (makers.has(start - 1)) start--;
    while (left.has(end)) end++;
    return tokens.slice(start, end).join(" ");
  });
// The graphics unit of a processor that is named without a card.
const builtIn = ({ keys, cards }, processor, gib) => {
  const name = (processor ?? "").replace(/[^a-z0-9.]+/g, "");
  const fitting = Object.entries(keys.c)
    .map(([word, meant]) => [word, Number.parseInt(meant, 10)])
    .filter(([word, at]) => name.includes(word) && cards[at][5])
    .sort(([a, x], [b, y]) => b.length - a.length || x - y);
  return fitting.slice(0, 1).map(([, at]) => ({ key: cards[at][0], count: 1, gib }));
};
const machineOf = (table, seen) => {
  const { rules, spots, text, sentence, left, tokens, pending } = seen;
  const plain = plainOf(rules, text);
  const nothing = { cards: [], ram_gib: null, processor: null, unknown: [text] };
  if (has(rules.placeholder, plain.replace(rules.processor, "@")) || has(rules.no_card, plain))
    return nothing;
  const { ram: stated, alone } = attach(table.cards, seen);
  const unknown = [];
  const named = spots.map((spot) => cardOf(table, seen, spot, unknown));
  let cards = eachOf(table, named.filter(Boolean), pending);
  unknown.push(...chips(seen).filter((part) => !unknown.join(" ").includes(part)));
  const by_word = has(rules.processor_word, plain) && !has(rules.graphics, plain);
  const processor = seen.processor ?? (by_word || has(rules.no_gpu, plain) ? "cpu" : null);
  const bare = !cards.length && alone.length && !has(rules.mac, plain);
  if (bare && (unknown.length || !seen.processor)) {
    cards = [{ key: null, count: pending || 1, gib: Math.max(...alone) }];
    const strange = sentence ? "" : [...left].map((at) => tokens[at]).join(" ");
    if (!unknown.length && has(rules.strange, strange)) unknown.push(strange);
  }
  const lone = !cards.length && !unknown.length && alone.length ? Math.max(...alone) : null;
  const ram = stated ?? lone;
  if (!cards.length && !unknown.length) cards = builtIn(table, seen.processor, ram);
  if (![cards, unknown].some(({ length }) => length) && !processor && !ram && !sentence) {
    if (!whole(rules.number_alone, plain)) return text.trim() ? nothing : { ...nothing, unknown };
    cards = [{ key: null, count: 1, gib: Number(plain.match(/[\d.]+/)[0]) }];
  }
  const shares = ({ key }) => table.cards.find(([known]) => known === key)?.[5];
  const ram_gib = cards.length && cards.every(shares) ? null : ram;
  return { cards, ram_gib, processor, unknown };
};
export const readMachine = (table, text) => machineOf(table, scan(table, text, false));
export const read = (table, text) => {
  const hub = hubIn(rulesOf(table), text);
  const seen = scan(table, hub ? text.replace(hub, " ") : text, true);
  const machine = machineOf(table, seen);
  const model = hub ?? seen.model.join("-");
  const quantised = quantisationIn(seen.rules, seen.text)?.written;
  if (!model && machine.unknown[0] === seen.text) machine.unknown = [];
  return {
    machine,
    model: model ? readModel(table, quantised ? `${model} ${quantised}` : model) : null,
    engine: seen.words.e ?? null,
    context_tokens: seen.context,
    task: seen.words.t ?? null,
    unknown: [...seen.left].map((at) => seen.tokens[at]),
  };
};
