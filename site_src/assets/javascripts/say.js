// Print figures: a count, a number, a percentage, a ratio with its interval.
// `schemas/vocabulary/say.py` prints the same; a test compares the two.
export const UNKNOWN = "–";
export const TIMES = "×";
const LEAST = 0.1;
const MOST = 10;

// Decimals as Python prints them: a value exactly halfway, an odd multiple of a power of 1/2, is
// rounded to the even neighbour, while `toFixed` would choose the larger.
const fixed = (value, digits) => {
  const halves = value * 2 ** (digits + 1);
  if (!Number.isInteger(halves) || halves % 2 === 0) return value.toFixed(digits);
  const below = Math.floor(value * 10 ** digits);
  return ((below % 2 === 0 ? below : below + 1) / 10 ** digits).toFixed(digits);
};

const grouped = (text) => text.replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, ",");

export const count = (value, noun) =>
  value === null ? UNKNOWN : `${grouped(String(value))} ${noun}${value === 1 ? "" : "s"}`;

export const number = (value, digits = 1) =>
  value === null ? UNKNOWN : grouped(fixed(value, digits));

// Three significant digits, so that the ratio of two printed rates is their speedup.
export const rate = (value) =>
  number(value, value === null ? 0 : Math.max(0, 2 - Math.floor(Math.log10(value.toPrecision(3)))));

export const percent = (fraction, digits = 0) =>
  fraction === null ? UNKNOWN : `${fixed(fraction * 100, digits)} %`;

export const times = (ratio) => (ratio === null ? UNKNOWN : fixed(ratio, 2) + TIMES);

export const bound = (ratio) =>
  ratio < LEAST ? `<${LEAST}` : ratio > MOST ? `>${MOST}` : fixed(ratio, 2);

export const interval = (low, high) => `[${bound(low)}, ${bound(high)}]`;

export const listed = (names) =>
  names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names.join("");

// The beginning of a formula for spreadsheets, as in the CSV files: also after spaces, in full
// width, and after a character at which a spreadsheet may split.
const FORMULA = /^[\t\r]|^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]/;
const INNER = /(?<=[,;\t|])\s*(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/g;
// A spreadsheet runs a text that begins like a formula, so such a text gets an apostrophe in
// front.
export const csvCell = (value) => {
  const text = value.replace(INNER, "$&'");
  const safe = FORMULA.test(value) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
