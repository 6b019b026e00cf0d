// Read cards, machines, models and whole questions as people write them. The same algorithm as
// `answers/names.py`, over the same table; the tests read one list of spellings with both.
const KINDS = ["c", "#", "l", "e", "t", "k", "n"];
const PARAMETERS = /^(?:\d+(?:\.\d+)?b|\d+x\d+b)$/;
const STOPS = new Set("on with at for using via in by from to vs".split(" "));
const BITS = /(?<![A-Z0-9.])(?<!(?<![A-Z0-9])\d_)(\d(?:\.\d+)?)_?(?:BITS?|BPW)(?![A-Z0-9])/;
const NO_NAME = /^[#@+/(]/;
const compiled = new WeakMap();
const compile = (table) => {
  const named = (entries) => entries.map(([name, text]) => [name, new RegExp(text, "g")]);
  const generations = Object.keys(table.generations).sort((a, b) => b.length - a.length);
  return {
    ...Object.fromEntries(named(Object.entries(table.patterns))),
    steps: Object.entries(table.steps).reduce(
      (all, [k, v]) => ({ ...all, [k]: named(v.map(([a, b]) => [b, a])) }),
      {},
    ),
    family: new RegExp(`^(?:${table.families})(?:v?\\d[\\d.x]*)?(?:n|vl)?`),
    tag: new RegExp(`^(?:${table.tags})$`),
    generation: new RegExp(
      `(?<![a-z])(?:meta-)?(${generations.join("|")})-?v?(\\d)(?:(?:\\.?(\\d)|-(\\d)(?=-))?(?=n?-|n?$))`,
      "g",
    ),
    quantisations: named(table.quantisations),
  };
};
const rulesOf = (table) => compiled.get(table) ?? compiled.set(table, compile(table)).get(table);
const own = (map, key) => (Object.hasOwn(map, key) ? map[key] : undefined);
const has = (pattern, text) => text.search(pattern) >= 0;
const whole = (pattern, text) => new RegExp(`^(?:${pattern.source})$`).test(text);
const replaced = (steps, text) =>
  steps.reduce((now, [to, pattern]) => now.replace(pattern, to), text);
const plainOf = (rules, text) => {
  const bare = [...text]
    .slice(0, 200)
    .join("")
    .replace(/[®™]|\((?:R|TM|C)\)/gi, " ");
  return replaced(rules.steps.plain, bare.normalize("NFKD").toLowerCase()).trim();
};

// ---- models -------------------------------------------------------------------------------------
const quantisationIn = (rules, text) => {
  const plain = text.toUpperCase().replace(/[-\s/:]/g, "_");
  const cut = (name, at) => ({ name, written: text.slice(at.index, at.index + at[0].length) });
  const bits = plain.match(BITS);
  if (plain.includes("NOT_STATED")) return null;
  for (const [name, pattern] of rules.quantisations) {
    if (bits && /^B?F(?:16|32)$/.test(name)) break;
    pattern.lastIndex = 0;
    const found = pattern.exec(plain);
    if (found) return cut(name, found);
  }
  return bits ? cut(`${bits[1]}-bit`, bits) : null;
};
const labelOf = (found) => {
  if (!found) return null;
  const bits = found.name.replace(/^UD_/, "");
  return found.written.toUpperCase().replace(/[\s_-]+/g, "_") === `UD_${bits}`
    ? `UD-${bits}`
    : bits;
};
const slugOf = (table, rules, label) => {
  const bare = label.replace(/\([^)]*\)/g, " ");
  let text = (bare.trim() ? bare : label).toLowerCase().trim();
  for (let found; (found = quantisationIn(rules, text)); )
    text = text.replaceAll(found.written, " ");
  const joined = (part, pattern) => (part.match(pattern) ?? []).join("-");
  const aliased = (slug) => own(table.slugs, slug) ?? slug;
  const numbered = (slug) =>
    slug.replace(
      rules.generation,
      (_, family, ...numbers) =>
        table.generations[family] + numbers.slice(0, 3).filter(Boolean).join("."),
    );
  let slug = aliased(joined(text.replace(/\.(?=gguf\b|i1\b|\s|$)/g, " "), /[a-z0-9./]+/g));
  slug = numbered(slug.replace(/^(?:(?:hf|huggingface)\.co\/)?[\w.-]+\/(?=[^/]+$)/, ""));
  const words = joined(own(table.names, slug) ?? slug, /[a-z0-9.]+/g).split("-");
  return aliased(numbered(words.filter((word) => !rules.tag.test(word)).join("-")));
};
export const readModel = (table, text) => {
  const rules = rulesOf(table);
  const slug = slugOf(table, rules, text);
  const stated = [...slug.matchAll(/(?:^|-)e?(\d+(?:\.\d+)?)([bm])(?=-|$)/g)];
  const size =
    stated.length === 1 ? Number(stated[0][1]) / (stated[0][2] === "m" ? 1000 : 1) : null;
  const owned = text.match(/(?:^|\s)(?:(?:hf|huggingface)\.co\/)?([\w.-]+\/[\w.-]+)/);
  const quantisation = labelOf(quantisationIn(rules, text));
  return { slug, quantisation, repository: owned?.[1] ?? null, parameters_b: size, written: text };
};

// ---- machines -----------------------------------------------------------------------------------
const takeHub = (rules, text) => {
  for (const [found] of text.matchAll(/(?:[\w.-]{1,96}\/){1,3}[\w.-]{1,96}(?::[\w.-]{1,96})?/g)) {
    const name = found.toLowerCase().split("/").at(-1);
    if (rules.family.test(name) || /(?<![a-z0-9])\d[\d.]*b(?![a-z0-9])/.test(name)) return found;
  }
  return null;
};
// The words of the text; `#3` is the third size, `@` a processor, `2x` and `x2` counts.
const tokensOf = (rules, text, seen) => {
  const quantised = quantisationIn(rules, text);
  let plain = plainOf(rules, quantised ? text.replace(quantised.written, " ") : text);
  plain = replaced(rules.steps.before, plain).replace(rules.no_gpu, " @ ");
  plain = plain.replace(rules.processor, (name) => {
    seen.processor ??= name.trim();
    return " @ ";
  });
  plain = plain.replace(rules.size, (_, before, n1, u1, n2, u2, after) => {
    const word = before ?? after ?? "";
    if (word.search(rules.storage) === 0) return " ";
    const gib = Number(n1 ?? n2) * ({ t: 1024, m: 1 / 1024 }[(u1 ?? u2)[0]] ?? 1);
    seen.sizes.push({
      gib: Math.round(gib * 10) / 10,
      ram: word.search(rules.main_memory) === 0,
      at: 0,
    });
    return ` #${seen.sizes.length - 1} `;
  });
  plain = plain.replace(rules.context, (_, thousands, tokens, named) => {
    seen.context = thousands ? Math.trunc(thousands * 1024) : Number(tokens ?? named);
    return " ";
  });
  const words = replaced(rules.steps.after, plain).match(/#\d+|[@+/(]|[a-z0-9.]+/g) ?? [];
  return words.map((word) => word.replace(/^\.+|\.+$/g, "")).filter(Boolean);
};
const longest = (keys, tokens, at) => {
  for (let end = Math.min(tokens.length, at + 8); end > at; end--) {
    const part = tokens.slice(at, end);
    if (
      NO_NAME.test(part[0]) ||
      NO_NAME.test(part.at(-1)) ||
      part.some((each) => /[@+]/.test(each))
    )
      continue;
    const word = part.filter((each) => !/^[#/(]/.test(each)).join("");
    const kind = KINDS.find((each) => Object.hasOwn(keys[each], word));
    if (kind) return [kind, keys[kind][word], end];
    const single = /\ds$/.test(word) && own(keys.c, word.slice(0, -1));
    if (single) return ["c", single, end];
  }
  return ["", "", at + 1];
};
const scan = (table, text, sentence) => {
  const rules = rulesOf(table);
  const seen = { sizes: [], processor: null, context: null };
  const tokens = tokensOf(rules, text, seen);
  const [spots, left, makers, words] = [[], new Set(), new Map(), {}];
  let [pending, laptop, model] = [0, false, []];
  const begins = (at) =>
    sentence && !model.length && (whole(rules.family, tokens[at]) || PARAMETERS.test(tokens[at]));
  const ends = (at) => {
    const [token, [kind]] = [tokens[at], longest(table.keys, tokens, at)];
    if (/^[#@+(]/.test(token) || STOPS.has(token) || /^(?:\d{1,2}x|x\d{1,2})$/.test(token))
      return true;
    return /^[cek]$/.test(kind) || (/^[t#]$/.test(kind) && !PARAMETERS.test(tokens[at + 1] ?? ""));
  };
  for (let at = 0, end; at < tokens.length; at = end) {
    const [token, [kind, meant, next]] = [tokens[at], longest(table.keys, tokens, at)];
    const last = spots.at(-1);
    end = next;
    if (/^n?$/.test(kind) && begins(at)) {
      let start = at;
      while (/^[a-z]+$/.test(tokens[start - 1]) && left.delete(start - 1)) start--;
      for (end = at + 1; end < tokens.length && !ends(end); ) end++;
      model = tokens.slice(start, end);
    } else if (kind === "c") {
      const alone = at === 1 || tokens[at - 2] === "+";
      if (!pending && /^[2-9]$/.test(tokens[at - 1] ?? "") && alone && left.delete(at - 1))
        pending = Number(tokens[at - 1]);
      spots.push({
        options: meant.split(" ").map(Number),
        start: at,
        end,
        count: pending || 1,
        gib: null,
      });
      pending = 0;
    } else if (kind === "#" || /^\d{1,2}x$/.test(token))
      pending = Number.parseInt(meant || token, 10);
    else if (kind === "e" || kind === "t") words[kind] ??= meant;
    else if (kind === "k") makers.set(at, meant);
    else if (kind === "l") laptop = true;
    else if (kind) continue;
    else if (/^x\d{1,2}$/.test(token)) {
      if (last) last.count = Number(token.slice(1));
    } else if (token[0] === "#") seen.sizes[token.slice(1)].at = at;
    else if (last?.end === at && last.gib === null && whole(rules.bare_gib, token))
      last.gib = Number(token);
    else if (!NO_NAME.test(token)) left.add(at);
  }
  return { ...seen, rules, tokens, spots, left, makers, words, pending, laptop, model };
};
// Give each size to the card before it, else to the next card, else to main memory.
const attach = (cards, { sizes, spots, tokens }) => {
  const [alone, totals] = [[], () => spots.reduce((sum, { gib, count }) => sum + gib * count, 0)];
  let ram = null;
  for (const { gib, ram: stated, at } of sizes) {
    const spot = spots.findLast(({ start }) => start < at) ?? spots[0];
    const shares = spot && cards[spot.options[0]][5];
    if ((stated || tokens[at - 1] === "@") && !(shares && spot.gib === null)) ram ??= gib;
    else if (!spot) alone.push(gib);
    else if (spot.gib === null) spot.gib = gib;
    else if (!shares && gib !== totals()) ram ??= gib;
  }
  return { ram, alone };
};
// Words directly beside a card that make it another: a variant, or another maker.
const beside = (table, { rules, tokens, left, makers }, spot, maker) => {
  let [before, after] = [spot.start - 1, spot.end];
  while (tokens[after]?.[0] === "#") after++;
  const goesOn = (at) => at === after && whole(rules.chip, tokens[at]);
  const differs = (at) =>
    left.has(at) && (table.variants[maker].includes(tokens[at]) || goesOn(at));
  const found = [before, after].filter(differs).map((at) => tokens[at]);
  for (; makers.has(before); before--)
    if (!makers.get(before).includes(maker)) found.push(tokens[before]);
  return found;
};
const cardOf = (table, seen, spot, unknown) => {
  const { cards } = table;
  const fits = spot.options.filter((at) => cards[at][3] === 0 || cards[at][3] === spot.gib);
  const sized = fits.filter((at) => spot.gib && cards[at][3]);
  let index = sized[0] ?? fits[0] ?? (spot.gib ? undefined : spot.options[0]) ?? null;
  const words = beside(table, seen, spot, cards[spot.options[0]][1]);
  if (index !== null && seen.laptop) {
    const [key, maker, , , , shares, laptop] = cards[index];
    index =
      laptop >= 0 ? laptop : shares || maker === "m" || /laptop|\dm\b/.test(key) ? index : null;
    if (index === null) words.push("laptop");
  }
  const { count, gib } = spot;
  if (index !== null && !words.length) return { key: cards[index][0], count, gib };
  const part = seen.tokens.slice(spot.start, spot.end).filter((each) => !/^[#/(]/.test(each));
  unknown.push([...new Set([...part, ...words])].join(" "));
  return gib && !cards[spot.options[0]][5] ? { key: null, count, gib } : null;
};
// One name twice is two cards, unless nothing separates the names.
const merged = (table, { spots, tokens, pending }, named) => {
  const found = [];
  spots.forEach((spot, number) => {
    const [card, last] = [named[number], found.at(-1)];
    if (!card) return;
    const between = tokens.slice(spots[number - 1]?.end, spot.start);
    const two = between.includes("+") && !between.includes("(");
    if (!last || last.key !== card.key || card.key === null) found.push(card);
    else {
      last.count = two ? last.count + card.count : Math.max(last.count, card.count);
      last.gib ||= card.gib;
    }
  });
  if (pending && found.length === 1 && found[0].count === 1) found[0].count = pending;
  const rows = found.map(({ key }) => table.cards.find((card) => card[0] === key));
  const sum = found.reduce((all, { count }, at) => all + (rows[at]?.[2] ?? 0) * count, 0);
  const last = found.at(-1);
  const several =
    found.reduce((all, { count }) => all + count, 0) > 1 && rows.every((row) => row?.[2]);
  if (several && last.gib === sum && ![rows.at(-1)[3], ...rows.at(-1)[4]].includes(sum))
    last.gib = null;
  return found;
};
// Words that look like a card's number and are in no table, with the words before them.
const chips = ({ rules, tokens, left, makers }, sentence) =>
  [...left]
    .filter((at) => whole(rules.chip, tokens[at]))
    .map((at) => {
      let [start, end] = [at, at + 1];
      while (makers.has(start - 1)) start--;
      while (left.has(end) && !sentence) end++;
      return tokens.slice(start, end).join(" ");
    });
// The graphics unit of a processor that is named without a card.
const builtIn = ({ keys, cards }, processor, gib) => {
  const name = (processor ?? "").replace(/[^a-z0-9.]+/g, "");
  const first = (meant) => Number(meant.split(" ")[0]);
  const fitting = Object.entries(keys.c)
    .filter(([word, meant]) => name.includes(word) && cards[first(meant)][5])
    .sort(([a, x], [b, y]) => b.length - a.length || first(x) - first(y));
  return fitting.length ? [{ key: cards[first(fitting[0][1])][0], count: 1, gib }] : [];
};
const machineOf = (table, text, seen, sentence) => {
  const { rules, spots } = seen;
  const plain = plainOf(rules, text);
  const nothing = { cards: [], ram_gib: null, processor: null, unknown: [text] };
  if (has(rules.placeholder, plain) || has(rules.no_card, plain)) return nothing;
  const { ram, alone } = attach(table.cards, seen);
  const unknown = [];
  let cards = merged(
    table,
    seen,
    spots.map((spot) => cardOf(table, seen, spot, unknown)),
  );
  unknown.push(...chips(seen, sentence).filter((part) => !unknown.join(" ").includes(part)));
  const cpu =
    has(rules.no_gpu, plain) || (has(rules.processor_word, plain) && !has(rules.graphics, plain));
  const processor = seen.processor ?? (cpu ? "cpu" : null);
  const bare = !cards.length && alone.length && !has(rules.mac, plain);
  if (bare && (unknown.length || !seen.processor)) {
    cards = [{ key: null, count: seen.pending || 1, gib: Math.max(...alone) }];
    const strange = sentence ? "" : [...seen.left].map((at) => seen.tokens[at]).join(" ");
    if (!unknown.length && /[a-z]{3}/.test(strange)) unknown.push(strange);
  }
  if (!cards.length && !unknown.length) cards = builtIn(table, seen.processor, ram);
  if (!cards.length && !unknown.length && !processor && !ram && !sentence) {
    if (!whole(rules.number_alone, plain)) return text.trim() ? nothing : { ...nothing, unknown };
    cards = [{ key: null, count: 1, gib: Number(plain.match(/[\d.]+/)[0]) }];
  }
  const shares = cards.every(({ key }) => table.cards.find((card) => card[0] === key)?.[5]);
  return { cards, ram_gib: cards.length && shares ? null : ram, processor, unknown };
};
export const readMachine = (table, text) => machineOf(table, text, scan(table, text, false), false);
export const read = (table, text) => {
  const hub = takeHub(rulesOf(table), text);
  const rest = hub ? text.replace(hub, " ") : text;
  const seen = scan(table, rest, true);
  let machine = machineOf(table, rest, seen, true);
  let model = hub ?? seen.model.join("-");
  const quantised = quantisationIn(seen.rules, rest);
  if (model && quantised) model = `${model} ${quantised.written}`;
  if (!model && machine.unknown[0] === rest) machine = { ...machine, unknown: [] };
  return {
    machine,
    model: model ? readModel(table, model) : null,
    engine: seen.words.e ?? null,
    context_tokens: seen.context,
    task: seen.words.t ?? null,
    unknown: [...seen.left].map((at) => seen.tokens[at]),
  };
};
