// Find the parts of a text: sizes and counts, the longest known spellings, the model's name. The
// same steps as in `answers/name_scan.py`, over the same table, which has all patterns.
const lookup = (map, key) => (Object.hasOwn(map, key) ? map[key] : undefined);
const replaced = (steps, text) =>
  steps.reduce((now, [from, to]) => now.replace(new RegExp(from, "g"), to), text);

// A quantisation as files spell it, and the part of the text that names it.
const quantisationIn = ({ patterns, quantisations }, stated) => {
  const text = stated.replace(new RegExp(patterns.cache, "gi"), " ");
  const found = [...text.matchAll(new RegExp(patterns.quantisation, "gi"))].map(
    ([written, dynamic, ...names]) => ({ written, dynamic, names, at: names.findIndex(Boolean) }),
  );
  const { written, dynamic, names, at } = found.sort((one, other) => one.at - other.at)[0] ?? {};
  const label = quantisations[at];
  const before = label === "-bit" ? names[at] : dynamic && /^[IQ]/.test(label) ? "UD-" : "";
  return label ? { label: before + label, written } : null;
};
const plainOf = (table, text) => {
  const found = quantisationIn(table, text);
  if (found) return plainOf(table, text.replaceAll(found.written, " "));
  const short = [...text].slice(0, 200).join("");
  const bare = short.replace(/[®™]|\((?:R|TM|C)\)/gi, " ").normalize("NFKD");
  return replaced(table.steps.plain, bare.toLowerCase()).trim();
};

// The groups of the pattern name the kinds of tokens, units and factors.
const tokensIn = ({ patterns, units }, plain) =>
  [...plain.matchAll(new RegExp(patterns.token, "g"))].flatMap(({ 0: part, groups }) => {
    const entries = Object.entries(groups).filter(([, text]) => text);
    const { unit, by, ...stated } = Object.fromEntries(
      entries.map(([n, x]) => [n.replace(/\d/, ""), x]),
    );
    const [name, number] = Object.entries(stated)[0] ?? [];
    const value = Math.round(number * (by ?? 1) * (units[unit?.[0]] ?? 1) * 10) / 10;
    const text = part.replace(/^[ .]+|[ .!]+$/g, "");
    const kind = name === "sign" ? text : name;
    return kind && text ? { kind, text, value } : [];
  });
// The longest known spelling at each word.
export const namedIn = ({ keys }, tokens) => {
  const found = [];
  for (let at = 0, end; at < tokens.length; at = end) {
    const words = tokens.slice(at, at + 8).map(({ kind, text }) => /word|times/.test(kind) && text);
    while (words.length && (words.includes(false) || !lookup(keys, words.join("")))) words.pop();
    const [kind, ...meant] = lookup(keys, words.join(""))?.split(" ") ?? [];
    found.push(kind ? { kind, text: words.join(" "), value: Number(meant[0]), meant } : tokens[at]);
    end = at + Math.max(words.length, 1);
  }
  return found;
};

export const parts = (name) =>
  name
    .replace(/\b([a-z]{3,})v?(?=\d)/g, "$1-")
    .split("-")
    .sort()
    .join(" ");
const slugOf = ({ models, steps }, words) => {
  const slug = replaced(steps.slug, words.join("-").replaceAll(" ", "-"));
  const known = (name) => lookup(models, parts(name));
  return known(slug) ?? known(replaced(steps.version, slug)) ?? slug;
};
// The tokens of a text, with one for the model's whole name, and the model.
export const scan = (table, text) => {
  const tokens = namedIn(table, tokensIn(table, plainOf(table, text)));
  const marks = tokens.map((token, at) => {
    const joined = text.toLowerCase().includes(`${tokens[at - 1]?.text ?? ""}-${token.text}`);
    const known = ([, row]) => new RegExp(row).test(`${token.kind} ${token.text}`);
    return (joined ? "-" : " ") + table.classes.find(known)[0];
  });
  const found = marks.join("").match(new RegExp(table.patterns.model));
  const [start, length] = found ? [found.index / 2, found[0].length / 2] : [0, tokens.length];
  let own = found ? found[0].replace(new RegExp(table.patterns.tail), "").length / 2 : length;
  const part = ({ text: word }, at) => /^[a-z0-9]/.test(word) && !/[xnp]/.test(marks[at]) && word;
  const words = (from, to) => tokens.map(part).slice(from, to).filter(Boolean);
  let slug = slugOf(table, words(start, start + own));
  const sized = /\d[bm]\b/.test(slug) && !Object.values(table.models).includes(slug);
  if (sized && length === tokens.length) {
    own = length; // the whole text is an unlisted model's name
    slug = slugOf(table, words(start, length));
  }
  const [one, ...more] = slug.matchAll(/(?:^|-)e?(\d+(?:\.\d+)?)([bm])(?=-|$)/g);
  const model = {
    slug,
    quantisation: quantisationIn(table, text)?.label ?? null,
    parameters_b: one && !more.length ? one[1] / (one[2] === "m" ? 1000 : 1) : null,
    written: text,
    unknown: words(start + own, start + length),
  };
  const left = found ? tokens.toSpliced(start, length, { kind: "model", text: "" }) : tokens;
  return { tokens: left, named: found !== null, model };
};
