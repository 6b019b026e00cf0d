// Read cards, machines, models and whole questions as people write them: the same algorithm as in
// `planner/name_scan.py` and `planner/names.py`, over the same table, which has all patterns.
const found = (text, pattern, flags = "g") => [...text.matchAll(new RegExp(pattern, flags))];
const replaced = (steps, text) =>
  steps.reduce((now, [from, to]) => now.replace(new RegExp(from, "g"), to), text);
const textOf = (tokens) => tokens.map(({ text }) => text).join(" ");
const first = (tokens, kind) => tokens.find((token) => token.kind === kind);
const partsOf = ({ steps }, name) => `${replaced(steps.parts, name).split("-").sort()}`;

// The cards, the token of each squeezed spelling, and the models by the parts of their names.
export const unpacked = (table) => {
  const keys = new Map();
  const forms = (names, step) => [...names, ...names.map((name) => replaced([step], name))];
  const cards = table.cards.split("\n").map((line, number) => {
    const [names, mark, own = 0, portable, sized = "0"] = line.split("|");
    const [[key], sizes] = [names.split(","), sized.split(" ").map(Number)];
    const card = { key, own: Number(own), portable, sizes, shares: mark.endsWith("+") };
    for (const word of new Set(table.forms.reduce(forms, names.split(",")))) {
      const known = keys.get(word) ?? { kind: "card", meant: `${number}:${mark}`, cards: [] };
      keys.set(word, { ...known, cards: [...known.cards, card] });
    }
    return card;
  });
  for (const [kind, meant, words] of table.keys)
    for (const word of words.split(" "))
      keys.set(word, keys.get(word) ?? { kind, meant, value: Number(meant) });
  const models = table.models.split("\n").flatMap((line) => {
    const names = line.split(" ");
    return names.map((name) => [partsOf(table, name), names[0]]);
  });
  return { ...table, cards, keys, models: new Map(models) };
};

// A quantisation as files spell it, and the part of the text that names it.
const quantisationIn = ({ patterns, quantisations }, stated) => {
  const text = stated.replace(new RegExp(patterns.cache, "gi"), " ");
  const all = found(text, patterns.quantisation, "gi").map(([written, dynamic, ...names]) => {
    const at = names.findIndex(Boolean);
    const before = quantisations[at] === "-bit" ? names[at] : (dynamic && "UD-") || "";
    return { at, written, label: quantisations[at] && before + quantisations[at] };
  });
  return all.sort((one, other) => one.at - other.at)[0] ?? { label: "" };
};
const plainOf = (table, text) => {
  const { label, written } = quantisationIn(table, text);
  if (label) return plainOf(table, text.replaceAll(written, " "));
  return replaced(table.steps.plain, text.normalize("NFKD").toLowerCase()).trim();
};
// The groups of the pattern name the kinds of tokens, units and factors.
const tokensIn = ({ patterns, units }, plain) =>
  found(plain, patterns.token).flatMap(({ 0: part, groups }) => {
    const stated = Object.entries(groups).map(([name, text]) => [name.replace(/\d/, ""), text]);
    const named = Object.fromEntries(stated.filter(([, text]) => text));
    const { unit, by = 1, sign, ...own } = named;
    const [kind = sign, number] = Object.entries(own)[0] ?? [];
    const value = Math.round(number * by * (units[unit?.[0]] ?? 1) * 10) / 10;
    const text = part.replace(/^[ .]+|[ .!]+$/g, "");
    return kind && text ? { kind, text, value, meant: "" } : [];
  });
// The longest known spelling at each word; a processor has its own graphics.
const namedIn = ({ keys }, [...tokens]) => {
  const named = [];
  while (tokens.length) {
    const near = tokens.slice(0, 8);
    const words = near.map(({ kind, text }) => (/word|chip|times/.test(kind) ? text : "|"));
    while (words.length > 1 && !keys.has(words.join(""))) words.pop();
    const known = keys.get(words.join(""));
    named.push({ ...tokens[0], ...(known && { ...known, text: words.join(" ") }) });
    tokens.splice(0, words.length);
  }
  return named;
};
const withGraphics = (table, token) => {
  if (token.kind !== "processor") return token;
  const words = token.text.split(" ").map((text) => ({ kind: "word", text }));
  const chip = namedIn(table, words).find(({ cards }) => cards?.[0].shares);
  return chip ? { ...token, cards: chip.cards, meant: chip.meant } : token;
};
// The tokens of a text, with one for the model's whole name, and the model.
const scan = (table, text) => {
  const { classes, models, patterns, steps } = table;
  const plain = tokensIn(table, plainOf(table, text));
  const tokens = namedIn(table, plain).map((token) => withGraphics(table, token));
  const marks = tokens.map(({ kind, text: word }, at) => {
    const joined = text.toLowerCase().includes(`${tokens[at - 1]?.text ?? ""}-${word}`);
    const [mark] = classes.find(([, row]) => found(`${kind} ${word}`, row).length);
    return (joined ? "-" : " ") + mark;
  });
  const [name] = found(marks.join(""), patterns.model);
  const start = name ? name.index / 2 : 0;
  const end = name ? start + name[0].length / 2 : tokens.length;
  const own = tokens.map(({ text: word }, at) =>
    /^\w/.test(word) && !/[xnp]/.test(marks[at]) ? word : "",
  );
  const words = (from, to) => own.slice(from, to).filter(Boolean);
  const slugOf = (until) => {
    const slug = replaced(steps.slug, words(start, until).join("-"));
    return models.get(partsOf(table, slug)) ?? slug;
  };
  const most = name ? start + replaced([[patterns.tail, ""]], name[0]).length / 2 : end;
  const short = slugOf(most);
  const sized = /\d[bm]\b/.test(short) && !models.has(partsOf(table, short));
  // The whole text is an unlisted model's name.
  const until = sized && end - start === tokens.length ? end : most;
  const slug = slugOf(until);
  const sizes = found(slug, patterns.stated);
  const model = {
    slug,
    quantisation: quantisationIn(table, text).label || null,
    parameters_b: sizes.length === 1 ? sizes[0][1] / (sizes[0][2] === "m" ? 1000 : 1) : null,
    written: text,
    unknown: words(until, end),
  };
  const left = tokens.toSpliced(start, end - start, { kind: "model", meant: "" });
  return { tokens: name ? left : tokens, model, named: Boolean(name) };
};
// The names of cards, by replacements in the marks of all tokens; on a laptop they are the laptop's.
const spotsIn = ({ keys, patterns, steps }, tokens) => {
  const marks = tokens.map(({ kind, meant }, at) => `${kind}${at}:${meant} `).join("");
  const laptop = first(tokens, "laptop");
  const chipOf = (card) => keys.get(`${card.key} laptop`)?.cards[0] ?? card;
  return found(replaced(steps.cards, marks), patterns.spot).map(([, kind, places, rest]) => {
    const named = found(places, "\\d+").map(([at]) => tokens[at]);
    const meant = kind === "card" ? named[0].cards : [];
    const of = (part, kinds) => found(part, `(?:${kinds})(\\d+)`).map(([, at]) => tokens[at]);
    const counts = rest.split("plus").map((part) => of(part, "times").map(({ value }) => value));
    return {
      text: textOf(laptop && kind === "card" ? [...named, laptop] : named),
      rows: laptop ? meant.map(chipOf).filter(({ portable }) => portable) : meant,
      count: counts.reduce((sum, each) => sum + Math.max(1, ...each), 0),
      sizes: of(rest, "size|main"),
    };
  });
};
// The card of this size and main memory, given the sum of all cards' memories: more than twice
// the memory of a card is neither a size of it nor of a changed one.
const cardOf = ({ rows, count, sizes }, total) => {
  const [{ own: usual, shares, sizes: known } = { sizes: [] }] = rows;
  const most = Math.max(2 * (usual || Infinity), total, ...known);
  const own = sizes.find(({ kind, value }) => shares || (kind === "size" && value <= most));
  const gib = own?.value ?? null;
  const ram = sizes.find((x) => x !== own && !shares && ![gib, gib * count].includes(x.value));
  const ofSize = rows.find((card) => card.sizes[0] === gib);
  const row = ofSize ?? rows.find((card) => !(gib && card.sizes[0]));
  const sum = gib === total && total > row?.own && row.own > 0 && !row.sizes.includes(gib);
  const card = { key: row?.key ?? null, count, gib: sum ? null : gib };
  return { card: row || gib ? card : null, ram: ram?.value, shares: row?.shares };
};
const machineOf = (table, tokens) => {
  const spots = spotsIn(table, tokens);
  const total = spots.reduce((sum, { rows: [row], count }) => sum + (row?.own ?? 0) * count, 0);
  const named = spots.map((spot) => ({ text: spot.text, ...cardOf(spot, total) }));
  const loose = spots.length ? null : (first(tokens, "main") ?? first(tokens, "size"));
  const ram = named.find((each) => each.ram)?.ram ?? loose?.value ?? null;
  const cards = named.flatMap(({ card }) => card ?? []);
  const shared = cards.length && named.every(({ card, shares }) => shares || !card);
  return {
    cards,
    ram_gib: shared ? null : ram,
    processor: first(tokens, "processor")?.text ?? null,
    unknown: named.flatMap(({ text, card }) => (card?.key ? [] : text || [])),
  };
};

export const readModel = (table, text) => scan(table, text).model;
export const read = (table, text) => {
  const { tokens, named, model } = scan(table, text);
  const written = [model.slug, model.quantisation].filter(Boolean).join(":");
  return {
    machine: machineOf(table, tokens),
    model: named ? { ...model, written } : null,
    engine: first(tokens, "engine")?.meant ?? null,
    context_tokens: first(tokens, "context")?.value ?? null,
    task: first(tokens, "task")?.meant ?? null,
    unknown: tokens.filter(({ kind }) => /chip|word|variant/.test(kind)).map((x) => x.text),
  };
};
