// Read the names of models and quantisations as people write them. The same algorithm as
// `answers/model_names.py` and `answers/model_search.py`, over the same table.
const tables = new WeakMap();
export const rulesOf = (table) => {
  const each = ([name, text]) => [name, new RegExp(text, "g")];
  const steps = ([name, pairs]) => [name, pairs.map(([text, to]) => each([to, text]))];
  const made = () => ({
    ...Object.fromEntries(Object.entries(table.patterns).map(each)),
    ...Object.fromEntries(Object.entries(table.steps).map(steps)),
    quantisations: table.quantisations.map(([name, text]) => [name, new RegExp(text)]),
  });
  return tables.get(table) ?? tables.set(table, made()).get(table);
};
export const lookup = (map, key) => (Object.hasOwn(map, key) ? map[key] : undefined);
export const whole = (pattern, text) => new RegExp(`^(?:${pattern.source})$`).test(text);
export const replaced = (rules, step, text) =>
  rules[step].reduce((now, [to, pattern]) => now.replace(pattern, to), text);

const joinedOf = (text) => text.toUpperCase().replace(/[-\s/:]/g, "_");
// The text with blanks for the quantisation of the cache: `q8_0 KV cache`.
const withoutCache = ({ cache }, text) =>
  [...joinedOf(text).matchAll(cache)].reduce(
    (now, { 0: { length }, index }) =>
      now.slice(0, index) + " ".repeat(length) + now.slice(index + length),
    text,
  );
export const quantisationIn = (rules, stated) => {
  const text = withoutCache(rules, stated);
  const plain = joinedOf(text);
  const bits = new RegExp(rules.bits.source).exec(plain);
  if (plain.includes("NOT_STATED")) return null;
  const row = rules.quantisations.find(
    ([name, pattern]) => (bits && /^B?F(?:16|32)$/.test(name)) || pattern.test(plain),
  );
  const found = bits && (!row || /^B?F(?:16|32)$/.test(row[0])) ? bits : row?.[1].exec(plain);
  if (!found) return null;
  const written = text.slice(found.index, found.index + found[0].length);
  return { name: found === bits ? `${bits[1]}-bit` : row[0], written };
};
const labelOf = (found) => {
  const bits = found?.name.replace(/^UD_/, "") ?? null;
  const dynamic = found?.written.toUpperCase().replace(/[\s_-]+/g, "_") === `UD_${bits}`;
  return dynamic ? `UD-${bits}` : bits;
};
const slugOf = (table, rules, label) => {
  const bare = label.replace(/\([^)]*\)/g, " ");
  let text = (bare.trim() ? bare : label).toLowerCase().trim();
  for (let found; (found = quantisationIn(rules, text)); )
    text = text.replaceAll(found.written, " ");
  const joined = (part, pattern) => (part.match(pattern) ?? []).join("-");
  const aliased = (slug) => lookup(table.slugs, slug) ?? slug;
  const version = (_, family, ...numbers) =>
    table.generations[family] + numbers.slice(0, 3).filter(Boolean).join(".");
  const slug = aliased(joined(text.replace(/\.(?=gguf\b|i1\b|\s|$)/g, " "), /[a-z0-9./]+/g))
    .replace(/^(?:(?:hf|huggingface)\.co\/)?[\w.-]+\/(?=[^/]+$)/, "")
    .replace(rules.generation, version);
  const words = joined(lookup(table.names, slug) ?? slug, /[a-z0-9.]+/g).split("-");
  const telling = words.filter((word) => !whole(rules.tag, word)).join("-");
  return aliased(telling.replace(rules.generation, version));
};
const REPOSITORY =
  /(?:^|\s)(?:(?:hf|huggingface)\.co\/)?(?!models\/)(\w[\w.-]*\/[\w.-]+)(?=[\s:,]|$)(?<!\.gguf)/;
const partsIn = (slug) =>
  slug
    .replace(/\b([a-z]{3,})v?(?=\d)/g, "$1-")
    .split("-")
    .sort()
    .join(" ");
// The indices of the words that belong to the first name; a name has a family or a size.
const nameIn = (table, rules, words) => {
  const family = (word) => whole(rules.family, word);
  const main = (at) => family(words[at]) || whole(rules.parameters, words[at]);
  const belongs = (word, at, own) => {
    const before = own.length && own.at(-1) === at - 1 ? words[at - 1] : "";
    const letters = /^[a-z]+$/.test(before);
    if (main(at)) return true;
    if (table.name_words.includes(word)) return before || word.length > 1;
    if (whole(rules.number, word)) return letters || (before && word[0] === "v") || /\./.test(word);
    return letters && family(before) && whole(rules.line, word);
  };
  let own = [];
  for (const [at, word] of words.entries())
    if (!whole(rules.stop, word)) own = belongs(word, at, own) ? [...own, at] : own;
    else if (own.some(main)) break;
    else own = [];
  if (!own.some(main)) return [];
  const first = own.find((at) => family(words[at])) ?? own[0];
  // A word such as "small" counts before the family only directly before it.
  const joined = (at) => own.filter((each) => at <= each && each < first).length >= first - at;
  return own.filter((at) => main(at) || joined(at));
};
const foundIn = (table, rules, plain) => {
  const words = slugOf(table, rules, plain).split("-");
  let own = nameIn(table, rules, words);
  if (!own.length) return null;
  const explained = (word) => ["n", "e"].some((kind) => Object.hasOwn(table.keys[kind], word));
  const left = [...words.keys()].filter((at) => !own.includes(at) && !explained(words[at]));
  // An unknown word begins the name: `darkidol-llama-3.1-8b`, `cedar-12b`.
  const [first, last] = [own.find((at) => whole(rules.family, words[at])), own.at(-1)];
  const joined = `${words[first - 1]}-${words[first]?.replace(/[^a-z].*/, "")}`;
  const another = first === undefined || (left.includes(first - 1) && plain.includes(joined));
  const begin = another ? 0 : own[0];
  own = [...own, ...left.filter((at) => begin <= at && at < last)].sort((a, b) => a - b);
  const name = own.map((at) => words[at]).join("-");
  const slug = slugOf(table, rules, name.replace(/\b([a-z]{2}[a-z0-9.-]+)-(?=\1)/g, ""));
  const known = (each) => lookup(table.models, partsIn(each));
  const unknown = left.filter((at) => !own.includes(at)).map((at) => words[at]);
  return { slug: known(slug) ?? known(slug.replace(/-v[01](?:[.-]?\d)?$/, "")) ?? slug, unknown };
};
// The slug of the model in a text, and the words that do not belong to its name.
const modelIn = (table, rules, text) => {
  const plain = replaced(rules, "model", withoutCache(rules, text).toLowerCase());
  const found = foundIn(table, rules, plain) ?? foundIn(table, rules, plain.replace(/[()]/g, " "));
  return found ?? { slug: slugOf(table, rules, plain), unknown: [] };
};
export const readModel = (table, text) => {
  const rules = rulesOf(table);
  const { slug, unknown } = modelIn(table, rules, text);
  const [one, ...more] = slug.matchAll(/(?:^|-)e?(\d+(?:\.\d+)?)([bm])(?=-|$)/g);
  return {
    slug,
    quantisation: labelOf(quantisationIn(rules, text)),
    repository: text.match(REPOSITORY)?.[1] ?? null,
    parameters_b: one && !more.length ? one[1] / (one[2] === "m" ? 1000 : 1) : null,
    written: text,
    unknown,
  };
};
