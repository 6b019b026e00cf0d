// The words of a search in tables and in Explore: a memory, a size of model, and words that must
// occur. Blanks and hyphens do not count: "4060ti" finds "RTX 4060 Ti".
const NEAR = 0.12; // two model sizes within this ratio are the same: 27B and 28B
const BILLION = 1e9;
const BRANDS = { geforce: "nvidia", radeon: "amd", arc: "intel", macbook: "apple" };
const MEANS = { mobile: "laptop", notebook: "laptop", maxq: "laptop", dual: "2", two: "2" };
const UNTELLING = new Set(
  "nvidia geforce amd radeon intel gpu gpus card cards with and on my a the".split(" "),
);
const MEMORY = /(?<![\w.])(\d+(?:\.\d+)?)[ -]*(?:gib|gb|gigs?|go|g)\b(?: *(?:v?ram|unified)\b)?/g;
const NUMBER = "(\\d+(?:\\.\\d+)?)";
const SIZES = [
  [new RegExp(`(?<![\\w.-])${NUMBER}\\s*b?\\s*(?:-|to)\\s*${NUMBER}\\s*bn?\\b`), (a, b) => [a, b]],
  [new RegExp(`(?:<|\\bunder|\\bbelow|\\bup to)\\s*${NUMBER}\\s*b\\b`), (a) => [0, a]],
  [new RegExp(`(?:>|\\bover|\\babove)\\s*${NUMBER}\\s*b\\b`), (a) => [a, null]],
];
const ONE_SIZE = /(?<![\w.])(\d+(?:\.\d+)?)\s?(b|bn|m)\b(?!\s*(?:xt|gpu))/;

const plain = (text) =>
  String(text)
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\p{M}|[®™]/gu, "")
    .replaceAll("×", "x")
    .replace(/[–—‐‑_]/g, "-");

const sizeIn = (text) => {
  for (const [pattern, bounds] of SIZES) {
    const found = text.match(pattern);
    if (!found) continue;
    const [from, below] = bounds(...found.slice(1));
    return [{ from: from * BILLION, below: below && below * BILLION }, found[0]];
  }
  const one = text.match(ONE_SIZE);
  const small = one?.[2] === "m" && one[1].length !== 3; // "4060m" is a laptop's card
  return one && !small
    ? [{ parameters: one[1] * (one[2] === "m" ? 1e6 : BILLION), written: one[0] }, one[0]]
    : [null, ""];
};

// Memory in gigabytes, size in parameters, and the remaining words.
const parse = (text) => {
  const asked = plain(text);
  const memory = [...asked.matchAll(MEMORY)].map(([, number]) => Number(number))[0] ?? null;
  const [size, written] = sizeIn(asked.replace(MEMORY, " "));
  const words =
    asked
      .replace(MEMORY, " ")
      .replace(written, " ")
      .match(/[a-z0-9.]+/g) ?? [];
  return { memory, size, words: words.map((word) => MEANS[word] ?? word) };
};

// One string without blanks, except between two numbers: "rtx4060ti 16gb".
const squeezed = (text) =>
  plain(text)
    .replace(/[^a-z0-9.]+/g, " ")
    .replace(/(?<!\d) | (?!\d)/g, "");

const sameSize = (a, b) => Math.abs(a - b) <= NEAR * Math.max(a, b);
export const fitsSize = (size, parameters) => {
  if (!size) return true;
  if (parameters === null || parameters === undefined) return false;
  if (size.parameters !== undefined) return sameSize(size.parameters, parameters);
  return parameters >= size.from && (size.below === null || parameters < size.below);
};

// The order of the size class in the vocabulary's list of classes.
export const classOf = (sizes, size) => {
  if (!size) return null;
  const parameters = size.parameters ?? size.from;
  return sizes.findIndex((each) => each.unknown || each.below === null || parameters < each.below);
};

export const terms = (text) => {
  const { memory, size, words } = parse(text);
  const telling = words.filter((word) => !UNTELLING.has(word));
  const left = telling.length ? telling : words; // for a maker alone, search for its name
  return [
    ...(memory === null ? [] : [{ memory, beside: left.some((word) => /\d/.test(word)) }]),
    ...(size ? [{ size }] : []),
    ...left.map((word) => ({ word, maker: BRANDS[word] ?? null })),
  ];
};

// A text in which terms are looked up.
export const spread = (text) => ({ ...parse(text), text: squeezed(text) });
const within = (text, word) => {
  const at = text.indexOf(word);
  if (at < 0) return false;
  const cut = /^\d/.test(word) && /[\d.]/.test(text[at - 1] ?? "");
  return cut ? within(text.slice(at + 1), word) : true;
};
export const has = (found, term) => {
  if (term.memory !== undefined) return found.memory === term.memory;
  if (term.size) return fitsSize(term.size, found.size?.parameters ?? null);
  return within(found.text, term.word) || (term.maker !== null && within(found.text, term.maker));
};
