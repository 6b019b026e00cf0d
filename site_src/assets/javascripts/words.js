// Read texts in no known form: only figures with their names count.
import { foundOf, parsed, partOf } from "./forms.js";

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
// The rows of a table that somebody typed, with the names of the columns.
const cellsOf = (line) =>
  line
    .replace(/^\s*\|?|\|?\s*$|[*\x60]/g, "")
    .split("|")
    .map((each) => each.trim());
const tabled = (lines) => {
  let heads = null;
  return lines.flatMap((line, at) => {
    const isRule = (each) => /^[\s|:-]*-[\s|:-]*$/.test(each ?? "") && each.includes("|");
    if (!line.includes("|")) heads = null;
    if (isRule(lines[at + 1])) heads = cellsOf(line);
    if (isRule(line) || isRule(lines[at + 1])) return [];
    if (!heads) return [line];
    const cells = cellsOf(line);
    return cells.length < heads.length
      ? []
      : [cells.map((cell, each) => `${heads[each]}: ${cell}`).join("; ")];
  });
};
export const written = (text, table) => {
  const values = parsed(text).flatMap(([, all]) => all);
  const lines = values.length ? values.flatMap(linesOf) : tabled(text.split(/\r\n|\n|\r/));
  const found = [];
  let own = null;
  for (const line of lines) {
    const figures = {};
    const rates = new Set();
    const left = line.replace(table.words.leave, "");
    for (const pattern of table.words.figures)
      for (const { groups } of left.matchAll(pattern))
        for (const [name, value] of Object.entries(groups)) {
          if (value && name === "rate") rates.add(value);
          if (value) figures[name] ??= value;
        }
    const title = table.line.begins.test(line);
    if (!Object.keys(figures).length && !title) continue;
    // The other figures of a line with several speeds may be about any of them.
    for (const each of rates.size > 1 ? [...rates].map((rate) => ({ rate })) : [figures]) {
      if (!own || title || Object.keys(each).some((name) => name in own.figures)) {
        own = foundOf(table.words, "", {}, partOf(), table);
        found.push(own);
      }
      own.part.titles.push(line.trim());
      Object.assign(own.figures, each);
    }
  }
  return found.filter(({ figures }) => Object.keys(figures).length);
};
