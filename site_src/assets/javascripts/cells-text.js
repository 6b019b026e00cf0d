// Cells as text: CSV, Markdown, and the command that measures a cell again.
import { figure, key, label, page, printed } from "./cells.js";
import { el } from "./dom.js";
import {
  csvCell,
  interval as printedInterval,
  rate as printedRate,
  TIMES,
  UNKNOWN,
} from "./say.js";

const MARKDOWN_ROWS = 200;

const figureColumn = (name) => (cells, row) => printed(cells, name, row) ?? "";
const numberOf = (name) => (cells, row) => {
  const found = key(cells, name, row);
  return found === "none" ? "" : found;
};
const COLUMNS = {
  device: (cells, row) => label(cells, "device", row),
  vendor: (cells, row) => key(cells, "vendor", row),
  vram_gib: numberOf("vram"),
  backend: (cells, row) => key(cells, "backend", row),
  engine: (cells, row) => label(cells, "engine", row),
  target: (cells, row) => label(cells, "target", row),
  quantisation: (cells, row) => key(cells, "quant", row),
  method: (cells, row) => key(cells, "method", row),
  depth: numberOf("depth"),
  draft: (cells, row) => label(cells, "draft", row),
  concurrency: (cells, row) => key(cells, "concurrency", row),
  conditions: (cells, row) => unusual(cells, row, ""),
  task: (cells, row) => key(cells, "task", row),
  tier: (cells, row) => key(cells, "tier", row),
  verdict: (cells, row) => key(cells, "verdict", row),
  speedup: figureColumn("speedup"),
  interval_low: figureColumn("low"),
  interval_high: figureColumn("high"),
  stated_request: figureColumn("whole"),
  stated_request_low: figureColumn("whole_low"),
  stated_request_high: figureColumn("whole_high"),
  at_most: (cells, row) => String(isBound(cells, row)),
  baseline_tps: figureColumn("baseline"),
  tps: figureColumn("rate"),
  tokens_per_round: figureColumn("tokens"),
  round_cost: figureColumn("cost"),
  accepted_percent: figureColumn("accepted"),
  rigs: figureColumn("rigs"),
  submissions: figureColumn("submissions"),
  // A page of the site, or the address of a public source.
  evidence: (cells, row, root) => new URL(page(cells, "evidence", row), root).href,
};

export const csv = (cells, rows, root) => {
  const lines = [Object.keys(COLUMNS).join(",")];
  for (const row of rows) {
    const values = Object.values(COLUMNS).map((value) => csvCell(String(value(cells, row, root))));
    lines.push(values.join(","));
  }
  return `${lines.join("\n")}\n`;
};

// Text stays text in a Markdown table: one line, no markup, no entity, no link, no mention.
export const markdownCell = (value) =>
  (String(value).replace(/\s+/g, " ").trim() || UNKNOWN)
    .replace(/[\\|`*_~[\]<>#&$]/g, "\\$&")
    .replace(/:(?=\/\/|[a-z0-9_+-]+:)/gi, "\\:")
    .replace(/\b(www|xmpp|mailto)(?=[.:])/gi, "$1\\")
    .replace(/@(?=[a-z0-9])/gi, "@\u200b");

// If a trial of the cell failed, its speedup is an upper bound.
const isBound = (cells, row) => figure(cells, "at_most", row) === 1;

export const speedup = (cells, row) => {
  const middle = printed(cells, "speedup", row);
  return middle === null ? UNKNOWN : `${isBound(cells, row) ? "at most " : ""}${middle}${TIMES}`;
};

const between = (cells, row, ends) => {
  const [low, high] = ends.map((name) => printed(cells, name, row));
  return low === null || high === null ? null : printedInterval(Number(low), Number(high));
};
export const interval = (cells, row) => between(cells, row, ["low", "high"]);

// The request with an answer of the stated length and its interval; without prompt times, a note.
export const request = (cells, row) => {
  const middle = printed(cells, "whole", row);
  return middle === null
    ? [UNKNOWN, null]
    : [middle + TIMES, between(cells, row, ["whole_low", "whole_high"])];
};

export const rate = (cells, name, row) => {
  const value = figure(cells, name, row);
  return printedRate(Number.isNaN(value) ? null : value);
};

// A later suite and unusual settings, after `between`; a file without such settings lacks the
// facet.
const unusual = (cells, row, between) => {
  const found = ["suite", "conditions"]
    .filter((name) => cells.facets[name])
    .map((name) => label(cells, name, row));
  const named = found.filter((each) => !["usual", "first"].includes(each));
  return named.length ? between + named.join(", ") : "";
};

export const method = (cells, row) => {
  const depth = key(cells, "depth", row);
  const concurrency = key(cells, "concurrency", row);
  return (
    label(cells, "method", row) +
    (depth === "none" ? "" : ` · depth ${depth}`) +
    (concurrency === "1" ? "" : ` · ${concurrency} at once`) +
    unusual(cells, row, " · ")
  );
};

const MARKDOWN_COLUMNS = {
  Device: COLUMNS.device,
  Backend: COLUMNS.backend,
  Target: (cells, row) => `${label(cells, "target", row)} ${key(cells, "quant", row)}`,
  Method: method,
  Draft: COLUMNS.draft,
  Task: (cells, row) => label(cells, "task", row),
  Speedup: speedup,
  "95 %, another machine": (cells, row) => interval(cells, row) ?? "",
  "Request with a 256-token answer": (cells, row) => request(cells, row).filter(Boolean).join(" "),
  Verdict: (cells, row) => label(cells, "verdict", row),
};
export const markdown = (cells, rows, address) => {
  const heads = Object.keys(MARKDOWN_COLUMNS);
  const lines = [`| ${heads.join(" | ")} |`, `|${"---|".repeat(heads.length)}`];
  for (const row of rows.slice(0, MARKDOWN_ROWS)) {
    const values = Object.values(MARKDOWN_COLUMNS).map((value) => value(cells, row));
    lines.push(`| ${values.map(markdownCell).join(" | ")} |`);
  }
  const more =
    rows.length > MARKDOWN_ROWS ? `The first ${MARKDOWN_ROWS} of ${rows.length} cells. ` : "";
  return `${lines.join("\n")}\n\n${more}Source: <${address}>\n`;
};

// The line that measures a cell again; its words were made with the site.
export const command = (cells, row) =>
  key(cells, "command", row) + cells.facets.task.options[cells.facets.task.index[row]];

// A figure with its interval, if there is one.
export const ranged = (figure, range) =>
  range ? [figure, " ", el("span", "dm-interval", range)] : [figure];
