// Read texts in no known form: only figures with their names count.
import { foundOf, parsed, partOf } from "./forms.js";
import { middleOf } from "./serverlog.js";

const UNLIKE = 1.1; // the same work again at a speed that differs by more is another setting
const WIDEST = 1.5; // of a range, or of repetitions in one cell
export const unlike = (one, other) => Math.max(one / other, other / one) > UNLIKE;

const worded = (name) => name.replace(/([a-z])(?=[A-Z])/g, "$1 ").replaceAll("_", " ");
// An object as one line of names and values. Objects in a list, and several in an object, have lines
// of their own.
const linesOf = (value, title = "") => {
  if (!value || typeof value !== "object") return [];
  const inner = Object.entries(value).filter(([, each]) => each && typeof each === "object");
  const isList = Array.isArray(value) || inner.length > 1;
  const own = Object.entries(value).flatMap(([name, each]) =>
    each && typeof each === "object" ? [] : [`${worded(name)}: ${each}`],
  );
  const more = inner.flatMap(([name, each]) =>
    linesOf(each, isList && !Array.isArray(value) ? `${worded(name)}: ` : ""),
  );
  if (!isList && inner.length && !Array.isArray(inner[0][1])) own.push(more.shift() ?? "");
  return own.length ? [`${title}${own.join("; ")}`, ...more] : more;
};
// The rows of a table that somebody typed or copied, with the names of the columns; of a table whose
// rows are the figures, the columns with the names of the rows.
const cellsOf = (line) =>
  line
    .replace(/^\s*\|?|\|?\s*$|[*\x60]/g, "")
    .split(line.includes("|") ? "|" : line.includes("\t") ? "\t" : /\s{2,}/)
    .map((each) => each.trim());
const isRow = (line) => line.includes("|") || /\S(?:\t|\s{2,}).*(?:\t|\s{2,})\S/.test(line);
const isRule = (line) => /^[\s|:+-]*-[\s|:+-]*$/.test(line) && /[|+]|- +-/.test(line);
const namedBy = (heads, cells) =>
  worded(cells.map((cell, at) => `${heads[at]}: ${cell}`).join("; "));
const rowsOf = (block, before, { line, words }) => {
  // Columns of repetitions are left out if there is one with their mean.
  const again = block[0].map((head) => head.match(line.again));
  const hasMean = again.some((hit) => hit && !hit.groups.one);
  const isLeft = (_, at) => !(hasMean && again[at]?.groups.one);
  const [heads, ...rows] = block.map((cells) => cells.filter(isLeft));
  const isFigure = (text) =>
    words.figures.some((each) => text.replace(words.leave, "").search(each) >= 0);
  const byRow = (names) => rows.map((cells) => namedBy(names, cells.slice(0, names.length)));
  const names = [heads[0], ...rows.map(([name]) => name)];
  const columns = heads
    .slice(1)
    .map((head, at) => namedBy(names, [head, ...rows.map((cells) => cells[at + 1] ?? "")]));
  const unit = `${before} ${heads[0]}`.match(line.unit)?.[0] ?? "";
  const [plain, drafts] = ["plain", "drafts"].map((name) =>
    heads.filter((head) => line[name].test(head) && !line.other.test(head)),
  );
  const isPair = plain.length > 0 && drafts.some((head) => !plain.includes(head));
  const unitOf = (head, at) =>
    isPair && [...plain, ...drafts].includes(head) ? unit || "tok/s" : at ? unit : "";
  const isOwn = (each, at) => plain.includes(heads[at + 1]) && isFigure(each);
  const whole = isPair && columns.some(isOwn) ? [columns, byRow(heads)] : [byRow(heads), columns];
  return (
    whole.find((lines) => lines.some(isFigure)) ??
    byRow(heads.map((head, at) => `${head} ${unitOf(head, at)}`))
  );
};
const tabled = (lines, table) => {
  const found = [];
  const block = [];
  let before = "";
  for (const [at, line] of [...lines, "end"].entries()) {
    if (!line.trim() || isRule(line)) continue;
    const isHead = isRule(lines[at + 1] ?? "") || (line.includes("\t") && !block.length);
    if (block.length && (!isRow(line) || isHead))
      found.push(...rowsOf(block.splice(0), before, table));
    const cells = cellsOf(line);
    if (!isRow(line) || !(isHead || block.length)) {
      before = line;
      found.push(worded(line));
    } else if (!line.includes("|") || cells.length >= (block[0] ?? []).length) block.push(cells);
  }
  return found;
};
// Several numbers for one figure are their middle; unlike numbers are of several settings.
const middled = (many) => {
  const all = many.split(/[/,–-]/).map(Number);
  return Math.max(...all) / Math.min(...all) > WIDEST ? "" : `${middleOf(all)}`;
};
// Whether a line has only a speed, which is about that of the line before.
const isAlike = ({ rate, ...others }, { rate: before }) =>
  Object.keys(others).length === 0 && !unlike(rate, before);
const figuresOf = (lines, table) => {
  const { plain } = table.line;
  let found = [];
  let own = null;
  for (const line of lines) {
    const figures = {};
    const rates = new Set();
    const left = line.replace(table.words.leave, "").replace(table.words.many, middled);
    for (const pattern of table.words.figures)
      for (const { groups } of left.matchAll(pattern))
        for (const [name, value] of Object.entries(groups)) {
          if (value && name === "rate") rates.add(value);
          if (value) figures[name] ??= value;
        }
    const title = table.line.begins.test(line);
    if (!Object.keys(figures).length && !title) continue;
    const isSame = ({ part }) => plain.test(part.titles.at(-1)) === plain.test(line);
    const isMore = own && !title && isSame(own) && isAlike(figures, own.figures);
    const again = isMore && line.match(table.line.again);
    if (again && !again.groups.one) found = found.filter(({ part }) => part !== own.part); // a mean
    // The other figures of a line with several speeds may be about any of them.
    for (const each of rates.size > 1 ? [...rates].map((rate) => ({ rate })) : [figures]) {
      if (!own || title || Object.keys(each).some((name) => name in own.figures)) {
        own = foundOf(table.words, "", {}, again ? own.part : partOf(), table);
        found.push(own);
      }
      own.part.titles.push(line.trim());
      Object.assign(own.figures, each);
    }
  }
  return found.filter(({ figures }) => Object.keys(figures).length);
};
// JSON in a text may be a part of a command.
export const written = (text, table) => {
  const values = parsed(text).flatMap(([, all]) => all.flatMap((each) => linesOf(each)));
  const found = figuresOf(values, table);
  return found.length ? found : figuresOf(tabled(text.split(/\r\n|\n|\r/), table), table);
};
