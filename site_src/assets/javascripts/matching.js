// Find what a visitor means by a typed text: a card, its memory, a size of model, a model. The site
// has no other matcher; its words are data, from `schemas/vocabulary/spellings.toml`.
const NEAR = 0.12; // two model sizes within this ratio are the same: 27B and 28B
const ANOTHER_CARD = 2; // a cost; from this cost on, a device is a sibling and not the card itself
const WITHOUT_WORD = 3;
const OTHER_MEMORY = 4;
const PROCESSOR = 1; // for equal names, the graphics unit precedes the cores
const BILLION = 1e9;
const SHORTEST_WORD = 3; // "x" alone names no device
const LIKELY_MEMORY = [2, 512]; // a number alone in the field for a card

const escaped = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const anyOf = (words) =>
  [...words]
    .sort((a, b) => b.length - a.length)
    .map(escaped)
    .join("|");

const compiled = new WeakMap();
const patterns = (rules) => {
  if (!compiled.has(rules)) compiled.set(rules, compile(rules));
  return compiled.get(rules);
};

const compile = (rules) => {
  const [memory, sizes] = [
    anyOf(Object.keys(rules.memory_units)),
    anyOf(Object.keys(rules.size_units)),
  ];
  const billions = anyOf(
    Object.keys(rules.size_units).filter((unit) => rules.size_units[unit] === BILLION),
  );
  const [families, variants] = [anyOf(rules.families), anyOf(rules.variants)];
  const number = "(\\d+(?:\\.\\d+)?)";
  const video = anyOf(rules.video_words);
  const places = [...rules.video_words, ...rules.system_words];
  return {
    phrases: Object.entries(rules.phrases)
      .sort(([a], [b]) => b.length - a.length)
      .map(([phrase, meant]) => [
        new RegExp(`(?<![a-z0-9])${escaped(phrase).replaceAll(" ", "[\\s-]*")}(?![a-z0-9])`, "g"),
        ` ${meant} `,
      ]),
    glued: new RegExp(`(${variants})(\\d+\\s*(?:${memory})(?![a-z]))`, "g"), // "ti16gb"
    memory: new RegExp(
      `(?<![\\w.])(?:(${anyOf(places)})[\\s-]+)?` +
        `${number}\\s*-?\\s*(${memory})(?![a-z0-9])(?:[\\s-]*(?:(?:of|de)\\s+)?` +
        `(${anyOf([...rules.memory_words, ...places])})(?![a-z]))?`,
      "g",
    ),
    bare: new RegExp(
      `(?<![\\w.])${number}[\\s-]*(?:${video})(?![a-z])|` +
        `(?<![a-z])(?:${video})\\s*${number}(?![\\w.]|\\s*(?:${memory})(?![a-z]))`,
    ), // "vram 24"
    range: new RegExp(
      `(?<![\\w.-])${number}\\s*(?:${billions})?\\s*(?:-|to)\\s*` +
        `${number}\\s*(?:${billions})(?![a-z0-9])`,
    ),
    below: new RegExp(
      `(?:<|\\bunder|\\bbelow|\\bless than|\\bup to)[\\s-]*` +
        `${number}\\s*(?:${billions})(?![a-z0-9])`,
    ),
    above: new RegExp(
      `(?:>|\\bover|\\babove|\\bmore than)[\\s-]*${number}\\s*(?:${billions})(?![a-z0-9])`,
    ),
    active: /(?<![a-z0-9])a(\d+(?:\.\d+)?)b(?![a-z0-9])/,
    // Millions have three digits: "135m" is a model, "4060m" is a laptop's card.
    size: new RegExp(
      `(?<![\\w.])(?!\\d{4}m)${number}(?:(${sizes})|\\s+(${billions}))(?![a-z0-9])` +
        `(?:\\s*(?:params?|parameters|model))?`,
    ),
    after: /(?<=[\s\d])x\s*(\d)(?![\w.])/g, // "3090 x2"
    count: /(?<![\w.])(\d)\s*x\s*(?=[a-z]*\s*\d|[a-z]{2,})/g,
    parts: new RegExp(`^((?:${families})*)([a-z]{0,2}\\d+(?:\\.\\d+)?[a-z]*?)((?:${variants})*)$`),
    families: new RegExp(families, "g"),
    variants: new RegExp(variants, "g"),
  };
};

const plain = (text) =>
  String(text)
    .normalize("NFKD")
    .replace(/\p{M}/gu, "") // "mémoire vidéo"
    .toLowerCase()
    .replace(/(?<=\d)o(?=\d)/g, "0")
    .replaceAll("×", "x")
    .replace(/[–—‐‑]/g, "-")
    .replace(/(\d),(\d{3})(?!\d)/g, "$1$2")
    .replace(/(\d),(\d{1,2})(?!\d)/g, "$1.$2")
    .replace(/^\s*(\S.{1,}?)\s*\+\s*\1\s*$/, "2 x $1") // the same card twice
    .replace(/[®™()[\]{},;:|/\\_"'=&]/g, " ");

// "rtx4060ti" as "rtx 4060 ti"; a text that names no card stays one word.
const apart = (pattern, word) => {
  const found = word.match(pattern.parts);
  if (!found) return [word];
  const number = /^\d{4}m$/.test(found[2]) ? [found[2].slice(0, -1), "mobile"] : [found[2]];
  return [
    ...(found[1].match(pattern.families) ?? []),
    ...number,
    ...(found[3].match(pattern.variants) ?? []),
  ];
};

// Remove the text that a pattern finds, and return the match.
const take = (state, pattern) => {
  const found = state.text.match(pattern);
  if (found) state.text = state.text.replace(found[0], " ");
  return found;
};

const sizeOf = (rules, pattern, state) => {
  const range = take(state, pattern.range);
  if (range) return { from: Number(range[1]) * BILLION, below: Number(range[2]) * BILLION };
  const below = take(state, pattern.below);
  if (below) return { from: 0, below: Number(below[1]) * BILLION };
  const above = take(state, pattern.above);
  if (above) return { from: Number(above[1]) * BILLION, below: null };
  const one = take(state, pattern.size);
  return one
    ? {
        parameters: Number(one[1]) * rules.size_units[one[2] ?? one[3]],
        written: `${one[1]}${one[2] ?? ""}`,
      }
    : null;
};

// Of several memories, the graphics card's memory is meant; the system's memory comes last.
const memoryIn = (rules, pattern, state) => {
  const found = [];
  state.text = state.text
    .replace(pattern.glued, "$1 $2")
    .replace(pattern.memory, (_, before, number, unit, after) => {
      const word = before ?? after; // "RAM 64 GB, VRAM 12 GB"
      const rank = rules.video_words.includes(word) ? 0 : rules.system_words.includes(word) ? 2 : 1;
      found.push([rank, Math.round(number * rules.memory_units[unit] * 10) / 10]);
      return " ";
    });
  const bare = found.length ? null : take(state, pattern.bare);
  if (bare) return Number(bare[1] ?? bare[2]);
  return found.sort(([a], [b]) => a - b)[0]?.[1] ?? null;
};

// One chip is sold with several numbers of cores.
const CORES = /(?<![a-z0-9.])\d+[\s-]*cores?(?:[\s-]+gpu)?\b/;
// A text with threads means the cores, not the graphics unit.
const THREADS = /(?<![a-z0-9])\d+[\s-]*threads?\b/;

// "m3 max 64", "rtx 3060 12": a number after a chip is a memory if cards have that size.
const BARE_MEMORY = /(?:\bm\d|\d{3,4}).*\s(6|8|1[0126]|2[04]|3[26]|48|64|96|128|192|256|512)\s*$/;

// Parse a text: memory in gigabytes, size in parameters, and the remaining words.
export const parse = (rules, text) => {
  const pattern = patterns(rules);
  const state = { text: plain(text) };
  for (const [phrase, meant] of pattern.phrases) state.text = state.text.replace(phrase, meant);
  const memory = memoryIn(rules, pattern, state);
  const threads = take(state, THREADS) !== null;
  take(state, CORES);
  const active = take(state, pattern.active);
  const size = sizeOf(rules, pattern, state);
  const bare = memory === null && size === null ? state.text.match(BARE_MEMORY) : null;
  if (bare) state.text = state.text.slice(0, -bare[1].length);
  const words = state.text
    .replace(pattern.after, " $1 x ")
    .replace(pattern.count, "$1 x ")
    .replace(/(?<![\w.])1 x /g, " ")
    .split(/[^a-z0-9.]+/)
    .map((word) => word.replace(/^\.+|\.+$/g, ""))
    .filter(Boolean)
    .flatMap((word) => (Object.hasOwn(rules.words, word) ? rules.words[word].split(" ") : [word]))
    .flatMap((word) => apart(pattern, word))
    .flatMap((word) => (Object.hasOwn(rules.words, word) ? rules.words[word].split(" ") : [word]));
  const processor =
    words.some((word) => rules.processor_words.includes(word)) && !words.includes("gpu");
  return {
    memory: bare ? Number(bare[1]) : memory,
    size,
    active: active ? Number(active[1]) * BILLION : null,
    cores: threads || processor,
    processor,
    words,
  };
};

const telling = (rules, words) => words.filter((word) => !rules.makers.includes(word));
const hasDigit = (word) => /\d/.test(word);

// ---- devices ----------------------------------------------------------------------------------
const indexed = new WeakMap();
const index = (rules, devices) => {
  if (!indexed.has(devices)) {
    const parsed = devices.map((device) => {
      const { words, memory, size } = parse(rules, device.label);
      const all = size ? [...words, size.written] : words; // "890M" is a chip
      return {
        device,
        words: new Set(telling(rules, all)),
        memory: device.memory ?? memory,
        cards: device.label.split(" + ").length,
      };
    });
    indexed.set(devices, { parsed, words: new Set(parsed.flatMap((each) => [...each.words])) });
  }
  return indexed.get(devices);
};

const memoryCost = (each, memory) => {
  if (memory === null || each.memory === null) return 0;
  const count = [...each.words].find((word) => /^\d$/.test(word)) ?? 1;
  return each.memory === memory || each.memory === memory * count ? -0.5 : OTHER_MEMORY;
};

const cost = (rules, each, words, { memory, cores }) => {
  let sum = memoryCost(each, memory) + ((each.device.kind === "gpu") === cores ? PROCESSOR : 0);
  for (const word of each.words) {
    if (words.includes(word) || rules.families.includes(word)) continue;
    sum += rules.variants.includes(word) || /^\d$/.test(word) ? ANOTHER_CARD : 1;
  }
  for (const word of words) if (!each.words.has(word)) sum += WITHOUT_WORD;
  if (each.cards > Math.max(1, words.filter((word) => CHIP.test(word)).length)) sum += ANOTHER_CARD;
  return sum;
};

// A word that can only be a card, known or unknown: "4075", "a40", but not "qwen3.8".
const CHIP = /^(?:[a-z]{1,2}\d|\d{3})\d*[a-z]?$/;

// Words in the form of names: "mi 210" as "mi210", "4080s" as "4080 super", "890m" as a chip.
const asNamed = (known, { words, size }) => {
  const found = [];
  for (const word of size && known.has(size.written) ? [...words, size.written] : words) {
    const joined = `${found.at(-1)}${word}`;
    if (known.has(joined) && !known.has(word)) found.splice(-1, 1, joined);
    else if (/^\d{4}s$/.test(word) && !known.has(word)) found.push(word.slice(0, -1), "super");
    else if (word === "s" && /^(?:\d{4}|ti)$/.test(found.at(-1))) found.push("super");
    else if (!known.has(word) && known.has(`${word}x`))
      found.push(`${word}x`); // "mi300"
    else if (/^\d{4}$/.test(word) && !known.has(word) && known.has(`r${word}`))
      found.push(`r${word}`);
    else if (/\ds$/.test(word) && !known.has(word) && known.has(word.slice(0, -1)))
      found.push(word.slice(0, -1));
    else found.push(word);
  }
  return found;
};

// The part of a text that names no device: words that no device has, and a size that is not the name
// of a chip.
export const leftOver = (rules, devices, { words, size }) => {
  const known = index(rules, devices).words;
  return {
    words: telling(rules, asNamed(known, { words, size })).filter((word) => !known.has(word)),
    size: size && known.has(size.written) ? null : size,
  };
};

// The devices that a text names, the likeliest first, each with its distance from the words: a
// device below `ANOTHER_CARD` is the card itself. A word that no device has is ignored, as is a typo
// in a maker's name. The number of the card is never ignored.
export const devicesFor = (rules, devices, text) => {
  const { parsed, words: known } = index(rules, devices);
  const typed = typeof text === "string" ? parse(rules, text) : text;
  const chips = asNamed(known, typed).filter((word) => hasDigit(word) && word.length > 1);
  const card = parsed.some(
    ({ device, words }) => device.kind === "gpu" && chips.some((word) => words.has(word)),
  );
  if (typed.processor && !card) {
    const cores = devices.filter((device) => device.kind !== "gpu");
    return devicesFor(rules, cores, { ...typed, processor: false });
  }
  // Next to a card, the processor is ignored.
  const words = typed.words.filter((word) => !rules.processor_words.includes(word));
  const said = card ? { ...typed, words } : typed;
  const named = telling(rules, asNamed(known, said));
  const numbers = named.filter((word) => known.has(word) && hasDigit(word) && word.length > 1);
  // "Laptop" alone is not a card. Next to a known card, "Ryzen 7700X" and "(DG2)" are ignored;
  // alone, they are another card.
  const asked = named.filter((word) => known.has(word) || (!numbers.length && CHIP.test(word)));
  if (
    !asked.some(
      (word) =>
        word.length > (hasDigit(word) ? 1 : SHORTEST_WORD - 1) && !rules.variants.includes(word),
    )
  )
    return [];
  const fitting = (needed) => parsed.filter((each) => needed.every((word) => each.words.has(word)));
  const mobile = asked.includes("q")
    ? asked.filter((word) => !["max", "q"].includes(word)).concat("laptop")
    : [];
  const all =
    [asked, mobile].map((each) => (each.length ? fitting(each) : [])).find((each) => each.length) ??
    [];
  // "i7-8700, 4060".
  const some = () => parsed.filter((each) => numbers.some((word) => each.words.has(word)));
  const found =
    [() => all, () => (numbers.length ? fitting(numbers) : []), some]
      .map((list) => list())
      .find((list) => list.length) ?? [];
  return found
    .map((each) => ({ device: each.device, cost: cost(rules, each, asked, typed) }))
    .sort(
      (a, b) =>
        a.cost - b.cost ||
        (b.device.address !== null) - (a.device.address !== null) ||
        (a.device.label < b.device.label ? -1 : 1),
    );
};

// The first of these devices that has every typed chip and variant and no others. Other typed words,
// such as a maker's name or the processor beside the card, are ignored.
export const cardIn = (rules, devices, found, typed) => {
  const { parsed, words: known } = index(rules, devices);
  const cards = parsed.filter(({ device }) => device.kind === "gpu");
  const decides = (word) => rules.variants.includes(word) || /^\d$/.test(word);
  const chip = (word) => hasDigit(word) && cards.some(({ words }) => words.has(word));
  const asked = asNamed(known, typed).filter((word) => decides(word) || chip(word));
  const same = ({ words }) =>
    asked.some(chip) &&
    asked.every((word) => words.has(word)) &&
    [...words].every((word) => !decides(word) || asked.includes(word));
  return found.find(({ device }) =>
    same(cards.find((each) => each.device === device) ?? { words: new Set() }),
  );
};

export const isCard = (found) => found.cost < ANOTHER_CARD;

const pairs = (text) =>
  new Set(
    [
      ...plain(text)
        .replace(/\s+/g, "")
        .matchAll(/(?=(..))/g),
    ].map(([, pair]) => pair),
  );
// The names most similar to an unknown name, by the pairs of letters that they share.
export const alike = (named, text, most) => {
  const asked = pairs(text);
  const shared = ({ label }) =>
    [...pairs(label)].filter((pair) => asked.has(pair)).length / (pairs(label).size + asked.size);
  return [...named]
    .sort((a, b) => shared(b) - shared(a) || (a.label < b.label ? -1 : 1))
    .slice(0, most);
};

// The memory that a text means: with its unit, or a number alone in the field for a card.
export const memoryOf = (rules, text) => {
  const { memory, words } = parse(rules, text);
  if (memory !== null) return memory;
  const [from, to] = LIKELY_MEMORY;
  const alone = words.length === 1 && /^\d+$/.test(words[0]) ? Number(words[0]) : null;
  return alone !== null && alone >= from && alone <= to ? alone : null;
};

// ---- models -----------------------------------------------------------------------------------
const letters = (words) => words.flatMap((word) => word.match(/[a-z]+|\d+(?:\.\d+)?/g) ?? []);
export const sameSize = (a, b) =>
  a !== null && b !== null && Math.abs(a - b) <= NEAR * Math.max(a, b);

export const fitsSize = (size, parameters) => {
  if (!size) return true;
  if (parameters === null || parameters === undefined) return false;
  if (size.parameters !== undefined) return sameSize(size.parameters, parameters);
  return parameters >= size.from && (size.below === null || parameters < size.below);
};

// A name with a size means exactly that size: "Qwen 8B" is not Qwen3.5-9B.
const isSize = (size, written, parameters) =>
  size?.parameters && written?.parameters
    ? size.parameters === written.parameters
    : fitsSize(size, parameters);

// The order of the size class in the vocabulary's list of classes.
export const classOf = (sizes, size) => {
  if (!size) return null;
  const parameters = size.parameters ?? size.from;
  return sizes.findIndex((each) => each.unknown || each.below === null || parameters < each.below);
};

// The models that a text names, the likeliest first, and the size if the text has one.
export const modelsFor = (rules, models, text) => {
  const { words, size } = typeof text === "string" ? parse(rules, text) : text;
  const asked = letters(words).filter((word) => !["model", "instruct", "it"].includes(word));
  const found = [];
  for (const model of asked.length ? models : []) {
    const named = parse(rules, model.label);
    const has = letters(named.words);
    if (!isSize(size, named.size, model.parameters) || !asked.every((word) => has.includes(word)))
      continue;
    found.push({ model, extra: has.length - asked.length });
  }
  found.sort(
    (a, b) =>
      a.extra - b.extra ||
      (b.model.people ?? 0) - (a.model.people ?? 0) ||
      (a.model.label < b.model.label ? -1 : 1),
  );
  return { models: found.map((each) => each.model), size };
};

// ---- lines of a table -------------------------------------------------------------------------
// The terms of a search: memory, size, and words that must begin a word of the text. Of a line that
// `run --month` prints at the end (machine, model, method, speedups, version), only machine and
// model are searched.
const PASTED = /^\s*(.+?) · (.+?) · .* · draftmap \S+\s*$/;

export const terms = (rules, text) => {
  const pasted = text.match(PASTED);
  const { memory, size, words } = parse(rules, pasted ? `${pasted[1]} ${pasted[2]}` : text);
  const left = telling(rules, words);
  const named = left.length ? left : words; // for a maker alone, search for its name
  return [
    ...(memory === null ? [] : [{ memory, beside: left.some(hasDigit) }]),
    ...(size ? [{ size }] : []),
    ...named.map((word) => ({ word, maker: rules.brands[word] ?? null })),
  ];
};

// The words of a text, in which terms are looked up.
export const spread = (rules, text) => {
  const { memory, size, words } = parse(rules, text);
  return { memory, size, text: ` ${words.join(" ")} ${plain(text).replace(/\s+/g, " ")} ` };
};

export const has = (spreadText, term) => {
  if (term.memory !== undefined) return spreadText.memory === term.memory;
  if (term.size) return fitsSize(term.size, spreadText.size?.parameters ?? null);
  return (
    spreadText.text.includes(` ${term.word}`) ||
    (term.maker !== null && spreadText.text.includes(` ${term.maker} `))
  );
};
