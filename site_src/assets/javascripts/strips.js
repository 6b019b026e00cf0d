// The strips as `pipeline/site/pages/strips.py` draws them, for what a visitor chooses; a test in
// the browser compares the two. Text nodes only.
"use strict";

import { view } from "./rows.js";
import { count, interval, listed, number, times } from "./say.js";

const [LOW, HIGH] = [0.4, 5]; // ends of the axis
// Of a group so many rows are in sight, and so many of all groups; a page has no more than the
// last.
const [OPEN_ROWS, OPEN_IN_ALL, MOST_ROWS] = [40, 80, 100];

const el = (tag, name, ...children) => {
  const node = document.createElement(tag);
  if (name) node.className = name;
  node.append(...children.filter((child) => child !== null && child !== ""));
  return node;
};
const link = (href, text, name = "") => Object.assign(el("a", name, text), { href });
const mark = (tag, attributes) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
};

// ---- one row ----------------------------------------------------------------------------------
const position = (ratio) =>
  (
    Math.min(Math.max(Math.log(Math.max(ratio, 1e-9) / LOW) / Math.log(HIGH / LOW), 0), 1) * 100
  ).toFixed(1);
const tone = ({ verdicts }, { verdict }) => (verdict ? verdicts[verdict].tile : "bare");

// Of a clear gain the lower bound, which allows for the choice.
export const figure = (row) =>
  row.verdict === "helps"
    ? `≥ ${times(row.interval_low)}`
    : `${row.differs ? "≈ " : ""}${times(row.speedup)}`;

export const plot = (row) => {
  const [low, high] =
    row.interval_low === null ? [row.least, row.most] : [row.interval_low, row.interval_high];
  const drawn = mark("svg", { class: "dm-strip__plot", "aria-hidden": "true", focusable: "false" });
  const dot = (name, r) => (value) =>
    mark("circle", { class: name, cx: `${position(value)}%`, cy: "50%", r });
  const others = [...new Set(row.other_dots.flat())].sort((a, b) => a - b);
  drawn.append(...others.map(dot("o", 2)));
  if (low < high)
    drawn.append(
      mark("line", {
        class: row.verdict === null ? "r" : "i",
        x1: `${position(low)}%`,
        x2: `${position(high)}%`,
        y1: "50%",
        y2: "50%",
      }),
    );
  const tick = `${position(row.speedup)}%`;
  drawn.append(
    ...row.dots.map(dot("d", 4)),
    mark("line", { class: "t", x1: tick, x2: tick, y1: "15%", y2: "85%" }),
  );
  return drawn;
};

const words = ({ verdicts }, row) => {
  const tasks = row.tasks.filter((each) => each !== "all");
  const only = tasks.length ? `${listed(tasks)} only` : null;
  if (row.verdict !== null)
    return [
      row.interval_low === null
        ? times(row.speedup)
        : `${times(row.speedup)} ${interval(row.interval_low, row.interval_high)}`,
      verdicts[row.mark].word,
      only,
      row.tier,
    ];
  const between = row.people > 1 ? `${number(row.least, 2)}–${number(row.most, 2)}` : null;
  return [
    between,
    count(row.people, "person", "people"),
    only,
    row.quantisations.length > 1 ? `${row.quantisations.length} quantisations` : null,
    row.tier,
  ];
};

const strip = (data, row, name) => {
  const { device, model } = row;
  const one = row.verdict === null && row.people === 1 ? " dm-strip--one" : "";
  // The pages of a row open with the chips that the row was chosen by.
  const page = ({ address, label }, look) =>
    link(data.root + address + (data.carried ?? ""), label, look);
  const names = el(
    "span",
    "dm-strip__name",
    name === "model" ? null : page(device),
    name === "device" ? null : page(model, name === "both" ? "dm-strip__model" : ""),
  );
  const setting = [data.words.methods[row.method].label, row.depth && `depth ${row.depth}`]
    .filter(Boolean)
    .join(", ");
  const said = el(
    "span",
    "dm-strip__words",
    setting,
    el("small", "", words(data.words, row).filter(Boolean).join(" · ")),
  );
  const made = el(
    "li",
    `dm-strip dm-strip--${row.tier} dm-strip--${tone(data.words, row)}${one}`,
    names,
    plot(row),
    link(data.root + row.evidence, figure(row), "dm-strip__figure"),
    said,
  );
  Object.assign(made.dataset, { device: device.id, model: model.id, tier: row.tier });
  return made;
};

// ---- groups -----------------------------------------------------------------------------------
const rank = (all, row) =>
  row.verdict === null
    ? row.speedup
    : ({ gain: row.interval_low, loss: row.speedup }[tone(all, row)] ?? 1);
const byName = (name) => (a, b) => (name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : 0);
const ranked = (all, rows) =>
  [...rows].sort(
    (a, b) =>
      rank(all, b) - rank(all, a) ||
      byName((row) => row.device.label)(a, b) ||
      byName((row) => row.model.label)(a, b),
  );

const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
};

// What a group shows; only most of its rows together claim a gain.
const finding = ({ methods, verdicts }, rows, noun) => {
  const [judged, bare] = [
    rows.filter((row) => row.verdict !== null),
    rows.filter((row) => row.verdict === null),
  ];
  if (bare.length >= judged.length) {
    const tried = Map.groupBy(bare, (row) => row.method);
    const [method, own] = [...tried].sort((a, b) => b[1].length - a[1].length)[0];
    return (
      `${2 * own.length > bare.length ? `${methods[method].label} ` : ""}usually ` +
      `${number(median(bare.map((row) => row.speedup)), 1)}×`
    );
  }
  const of = (name) => judged.filter((row) => verdicts[row.verdict].tile === name).length;
  if (of("flat") === judged.length) return verdicts["no-clear-difference"].word;
  for (const name of ["gain", "loss"])
    if (2 * of(name) > judged.length)
      return `a clear ${name} on ${of(name)} of ${count(judged.length, noun)}`;
  return `it depends on the ${noun}`;
};

const spread = (rows, noun) => {
  const figures = rows.map((row) => row.speedup);
  if (rows.length === 1) return count(1, noun);
  return (
    `${count(rows.length, noun)}, ${times(Math.min(...figures))} to ` +
    `${times(Math.max(...figures))}`
  );
};

// What rows are grouped by: the key, its label and address, the names that a row shows, what is
// counted.
const GROUPS = {
  model: {
    of: (row) => row.model.id,
    label: (row) => row.model.label,
    address: (row) => row.model.address,
    name: "device",
    noun: "device",
    alone: "Models with one device",
    one: "model",
  },
  device: {
    of: (row) => row.device.id,
    label: (row) => row.device.label,
    address: (row) => row.device.address,
    name: "model",
    noun: "model",
    alone: "Devices with one model",
    one: "device",
  },
  size: { of: (row) => row.model.size, label: (row, { sizes }) => sizes[row.model.size].label },
  backend: { of: (row) => row.backend, label: (row) => row.backend },
  task: {
    of: (row) => row.task,
    label: (row, { words: { tasks, all_tasks: all } }) => tasks[row.task]?.label ?? all,
  },
};
export const GROUPINGS = Object.keys(GROUPS);

const rowsList = (data, rows, name) => {
  const list = el("ol", "dm-strips", ...rows.map((row) => strip(data, row, name)));
  list.setAttribute("role", "list");
  return list;
};

const section = (data, by, rows, { isOpen, several, own }) => {
  const { label, address, name = "both", noun = "row", alone, one = "row" } = GROUPS[by];
  const first = rows[0];
  const drawn = ranked(data.words, rows).slice(0, MOST_ROWS);
  const heading = (linked) => {
    const said = several ? label(first, data) : alone;
    const named = several && linked && address ? link(data.root + address(first), said) : said;
    // Over the models of a device there is no usual figure.
    const found = by === "device" ? " by model" : `: ${finding(data.words, rows, noun)}`;
    return [named, several ? found : "", " ", el("small", "", spread(rows, several ? noun : one))];
  };
  const shown = several ? name : "both";
  const inside = [rowsList(data, drawn.slice(0, OPEN_ROWS), shown)];
  const more = drawn.slice(OPEN_ROWS);
  if (more.length)
    inside.push(
      el(
        "details",
        "dm-folded",
        el("summary", "", `${more.length} more`),
        rowsList(data, more, shown),
      ),
    );
  if (isOpen) return el("section", "dm-group", el("h2", "", ...heading(!own)), ...inside);
  return el(
    "section",
    "dm-group",
    el(
      "details",
      "",
      el("summary", "", el("span", "dm-group__name", ...heading(false))),
      ...inside,
    ),
  );
};

// The rows of a choice: one view, or one of each backend or task where these are what is grouped
// by.
export const chosen = (data, wish) => {
  const { by, memory, size, device, model } = wish;
  const backends = [...new Set(data.rows.map((row) => row.backend))].sort();
  const views =
    by === "backend" && !wish.backend
      ? backends.map((backend) => ({ ...wish, backend }))
      : by === "task" && wish.task === "all"
        ? [...Object.keys(data.words.tasks)].map((task) => ({ ...wish, task }))
        : [wish];
  const fits = (row) =>
    (!memory || row.device.memory === Number(memory)) &&
    (!size ||
      size === `model:${row.model.id}` ||
      size === `size:${data.sizes[row.model.size].id}`) &&
    (!device || row.device.id === device) &&
    (!model || row.model.id === model);
  return views.flatMap((each) => view(data, each)).filter(fits);
};

// The list of a choice, as the page is drawn without one.
export const draw = (data, wish) => {
  const { of, label } = GROUPS[wish.by];
  // The page of one has one group.
  const alone = !wish.device && !wish.model && GROUPS[wish.by].alone;
  const groups = [...Map.groupBy(chosen(data, wish), of).values()];
  const name = (rows) => label(rows[0], data);
  const several = groups
    .filter((rows) => !alone || rows.length > 1)
    .sort((a, b) => b.length - a.length || byName(name)(a, b));
  const rest = alone ? groups.filter((rows) => rows.length === 1).flat() : [];
  let shown = 0;
  const sections = [];
  for (const rows of [...several, ...(rest.length ? [rest] : [])]) {
    // Its fastest rows alone would flatter.
    if (sections.length && shown + rows.length > MOST_ROWS) continue;
    sections.push(
      section(data, wish.by, rows, {
        isOpen: shown < OPEN_IN_ALL,
        several: rows !== rest,
        own: Boolean(wish.device || wish.model),
      }),
    );
    shown += Math.min(rows.length, MOST_ROWS);
  }
  return sections.length ? sections : [el("p", "", "Nobody has a figure for this choice.")];
};
