// A pasted text is one to many runs: find them, and the run without and the run with drafts.
import { answered, joined, partOf, printed } from "./forms.js";
import { by, runOf } from "./serverlog.js";
import { unlike, written } from "./words.js";

const LONGEST = 4_000_000; // characters: the log of a day; a longer text would freeze the page

// All figures in a text, and the lines that could not be read; a log may have each line in JSON.
export const statedIn = (text, table) => {
  const isJson = table.json.test(text);
  const log = isJson && text.includes('"predicted_n"') ? null : printed(text, table);
  if (log?.found.length && (!isJson || log.found.some(({ form }) => form.gives === "request")))
    return log;
  const own = answered(text, table);
  const found = own.length ? own : written(text, table);
  const unread = log && !isJson && !found.length ? log.unread : [];
  return { found, unread, models: new Set() };
};

const drafts = ({ number }) =>
  ["drafted", "accepted", "share"].some((name) => number(name) > 0) || number("length") > 1;
const pace = ({ number }) =>
  number("rate") ?? number("tokens") / (number("ms") ?? number("took_ms") ?? NaN);
const gives = (rows, kinds) => rows.filter(({ form }) => kinds.includes(form.gives));

// ---- how the figures of a text split: `sure` if they cannot be one run ---------------------------
// Rows of the same name, unless their speeds differ; of several numbers of requests, one at once.
const byRow = (rows) => {
  const least = Math.min(...rows.map(({ number }) => number("at_once") ?? 1));
  const alone = rows.filter(({ number }) => (number("at_once") ?? 1) === least);
  return by(alone, ({ figures }) => figures.row).flatMap((own) => {
    const paces = own.map(pace);
    return unlike(Math.max(...paces), Math.min(...paces)) ? own.map((each) => [each]) : [own];
  });
};
// Requests without drafts and requests with drafts: two blocks are two runs, surely if they are as
// long as each other.
const byState = (found) => {
  const rows = gives(found, ["request", "rate"]);
  const starts = rows.filter((each, at) => !at || drafts(each) !== drafts(rows[at - 1]));
  const half = rows.indexOf(starts[1]);
  const isOn = gives(found.slice(0, found.indexOf(starts[1])), ["statistics"]).length > 0;
  if (starts.length !== 2 || rows[0].figures.once || isOn) return { groups: [found], sure: true };
  return { groups: [rows.slice(0, half), rows.slice(half)], sure: half * 2 === rows.length };
};
// The same requests twice at two speeds.
const halves = (found) => {
  const rows = gives(found, ["request"]).filter(({ number }) => number("tokens") ?? number("rate"));
  const half = rows.length / 2;
  if (!half || !Number.isInteger(half)) return [found];
  const both = [rows.slice(0, half), rows.slice(half)];
  const [first, second] = both.map((own) => own.reduce((all, each) => all + 1 / pace(each), 0));
  const same = (name) =>
    both[0].every((each, at) => each.number(name) === both[1][at].number(name));
  return unlike(first, second) && same("tokens") && same("prompt_tokens") ? both : [found];
};
// vLLM states a speed, then its drafts: speeds before the first drafts are of a plain run.
const beforeDrafts = (found) => {
  const at = found.findIndex((each) => each.form.gives !== "rate" && drafts(each));
  const before = gives(found.slice(0, Math.max(at, 0)), ["rate"]);
  const busy = before.filter(({ number }) => number("rate") > 0);
  const last = found.indexOf(busy.at(-1));
  return busy.length > 1 ? [found.slice(0, last), found.slice(last)] : [found];
};
// Forms of one tool belong together; requests of a server with tasks or times, and others, do not.
const toolOf = ({ form, server, task, clock, alone }) =>
  JSON.stringify([form.tool ?? form.of, task !== null && server, clock, alone]);
const groupsIn = (found) => {
  const rows = gives(found, ["row"]);
  if (rows.length === found.length) return { groups: byRow(rows), sure: true };
  const stages = by(gives(found, ["request"]), ({ figures }) => figures.run);
  if (stages.length > 1) return { groups: stages, sure: true };
  const partial = found.every(({ form, number }) => form.gives === "request" && !number("tokens"));
  const tools = partial ? found.map((each) => [each]) : by(found, toolOf);
  if (tools.length > 1) return { groups: tools, sure: false };
  const isTasked = found.some(({ task }) => task); // one server wrote all of it
  const state = byState(found);
  if (!isTasked && state.groups.length > 1) return state;
  const both = isTasked ? [] : halves(found);
  const unsure = [both, beforeDrafts(found)].find((each) => each.length > 1);
  return { groups: unsure ?? [found], sure: false };
};

// ---- runs ------------------------------------------------------------------------------------------
export const drafted = ({ requests, statistics, counters, stated }) =>
  Boolean(counters?.drafted || counters?.accepted || stated.length > 1 || stated.share > 0) ||
  [...requests, ...statistics].some((each) => each.accepted);
export const isRead = (run) =>
  run.requests.length > 0 ||
  run.statistics.length > 0 ||
  [run.counters, run.rate, run.refused, run.stated.length, run.stated.share].some(Boolean);

const nameOf = ({ figures }) => figures.row ?? figures.run;
const runsIn = (pasted, table) => {
  const stated = statedIn(joined(pasted.slice(0, LONGEST), table), table);
  const runs = by(stated.found, ({ part }) => part).flatMap((found) => {
    const { part } = found[0];
    const { groups, sure } = groupsIn(found);
    return groups.map((own) => ({
      ...runOf({ ...stated, found: own, part }, table),
      titles: [...part.titles, groups.length > 1 && nameOf(own[0])].filter(Boolean),
      sure: sure || groups.length < 2,
    }));
  });
  const found = runs.filter(isRead);
  const none = { ...runOf({ ...stated, found: [], part: partOf() }, table), titles: [] };
  return found.length ? found : [none];
};

// Whether a run speculated: by its figures, or by its titles.
export const speculated = (run, { line }) => {
  if (drafted(run) || run.titles.some((title) => line.flags.test(title))) return true;
  const words = run.titles.flatMap((each) => (/\s--?[a-z]/.test(each) ? [] : each.split(/[;|]/)));
  if (words.some((title) => line.plain.test(title))) return false;
  if (words.some((title) => line.drafts.test(title))) return true;
  return run.requests.some((each) => each.silent) ? false : null;
};
const ROUNDED = 1.04; // 1.5 for 1.46
// Whether the one run with drafts has the other's command with more flags, or prints a ratio that
// its speed has to the other's.
const confirmed = (runs, states, { line }) => {
  const [one, other] = states[0] ? runs : runs.toReversed();
  if (runs.length !== 2 || states.filter(Boolean).length !== 1) return false;
  const [long, short] = [one, other].map(({ titles }) => (titles[0] ?? "").split(/\s+/));
  const isCommand = short.some((word) => word.startsWith("-"));
  if (isCommand && short.every((word) => long.includes(word))) return true;
  const ratio = one.titles.join(" ").match(line.ratio)?.groups.times * (other.rate / one.rate);
  return Math.max(ratio, 1 / ratio) < ROUNDED;
};
// Of the cells of two rows, only numbers and words for a setting differ.
const UNIT = /(?<=\d\s?)(?:t(?:ok\w*)?\s?(?:\/|per)\s?s\w*|tps|m?s|x|[gm]i?b|w)(?!\w)/gi;
const alike = (runs, { line }) => {
  const [one, two] = runs.map(({ titles }) => (titles.at(-1) ?? "").split(/[;|]/));
  const isSetting = (cell = "") =>
    /^[\W\d]*$/.test(cell.split(":").at(-1).replace(UNIT, "")) ||
    [line.plain, line.drafts].some((each) => each.test(cell));
  const isSame = (cell, at) => cell === two[at] || (isSetting(cell) && isSetting(two[at]));
  return one.length !== two.length || one.length < 2 || one.every(isSame);
};

// Speeds of one setting, one after the other.
const isRepeated = (runs) => {
  const all = runs.map(({ rate, requests }) => (requests.length ? 0 : rate));
  const lines = new Set(runs.map(({ titles }) => titles.join().replace(/[0-9.]+/g, "")));
  return lines.size === 1 && all.every(Boolean) && !unlike(Math.max(...all), Math.min(...all));
};
const middleRun = (runs) => runs.toSorted((a, b) => a.rate - b.rate)[Math.floor(runs.length / 2)];

// The two runs of two fields; `asked` lists the runs if it is not clear which two to compare.
export const sides = (texts, table) => {
  const all = texts.map((text) => runsIn(text, table));
  const [[first], [second]] = all;
  if (all.every((runs) => runs.length < 2)) {
    const swapped =
      drafted(first) && !drafted(second) && (second.requests.length > 0 || !texts[1].trim());
    const [without, with_] = swapped ? [second, first] : [first, second];
    return { swapped, without, with: with_ };
  }
  const [without, with_] = all.map(middleRun);
  if (texts.every((text) => text.trim()) && all.every(isRepeated))
    return { swapped: false, without, with: with_ };
  const [own, ...more] = all.filter((_, at) => texts[at].trim());
  const states = own.map((run) => speculated(run, table));
  const differ = own.length === 2 && states.includes(true) && states.includes(false);
  const isClear = differ && own.every(({ sure }) => sure) && alike(own, table);
  if (more.length || !(isClear || confirmed(own, states, table)))
    return { asked: all.flat().filter(isRead) };
  const [one, two] = states[0] ? own.toReversed() : own;
  return { swapped: false, without: one, with: two };
};
