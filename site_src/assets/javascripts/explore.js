// The page Explore: filters, order, address, copies. Everything is drawn as text nodes, and a
// value from the address counts only if the data has it. The parameter for words is not called
// `q`, because that name opens the theme's search.
import {
  begin,
  isUsual,
  key,
  label,
  load,
  page,
  printed,
  select,
  figure as valueIn,
} from "./cells.js";
import {
  command,
  csv,
  interval,
  markdown,
  method,
  ranged,
  rate,
  request,
  speedup,
} from "./cells-text.js";
import { el, link } from "./dom.js";
import { number as figure, percent, UNKNOWN } from "./say.js";
import { terms as termsOf } from "./terms.js";

const ROWS_PER_PAGE = 25; // most of a filter's time is spent on drawing rows
const LONGEST_SEARCH = 120;
// The address is updated after a delay, because a browser needs longer for it than for a filter.
const REMEMBERED_MS = 300;
const DEFAULT = { column: "low", falling: true }; // the certain gain: the interval's lower bound
const CLEAR = 0.05; // beyond this distance from 1, a figure has a direction, as on the map

class Explore {
  constructor(form, cells) {
    this.form = form;
    this.cells = cells;
    this.root = form.dataset.root;
    this.table = document.getElementById("dm-cells");
    this.pages = document.querySelector(".dm-explore__pages");
    this.selects = [...form.querySelectorAll("select[name]")];
    this.names = this.selects.map((each) => each.name);
    this.more = [...form.querySelectorAll("details select")].map((each) => each.name);
    const all = { choices: {}, terms: [], counted: this.names, ...DEFAULT };
    this.total = select(cells, all).rows.length;
  }

  start() {
    const early = this.form.elements.words.value; // the text typed while the cells were loading
    this.fill();
    this.head();
    this.listen();
    this.restore();
    if (!early || location.search) return;
    this.form.elements.words.value = early;
    this.changed("replace");
  }

  part(name) {
    return this.form.querySelector(`[data-part="${name}"]`);
  }

  fill() {
    for (const each of this.selects) {
      const { keys, labels } = this.cells.facets[each.name];
      each.replaceChildren(
        each.options[0],
        ...keys.map((value, number) => new Option(labels[number], value)),
      );
    }
  }

  head() {
    this.part("order").replaceChildren();
    for (const heading of this.headings()) {
      const { sort } = heading.dataset;
      const [first, last] =
        sort in this.cells.figures
          ? ["lowest first", "highest first"]
          : ["ascending", "descending"];
      const name =
        sort === DEFAULT.column
          ? "Lower bound of the speedup"
          : heading.textContent.replace(/,.*/, "");
      this.part("order").append(
        new Option(`${name}, ${last}`, `-${sort}`),
        new Option(`${name}, ${first}`, sort),
      );
      const button = el("button", { type: "button" }, ...heading.childNodes);
      button.addEventListener("click", () => this.turn(sort));
      heading.append(button);
    }
    this.part("order").append(
      new Option("Speedup itself, highest first", "-speedup"),
      new Option("Speedup itself, lowest first", "speedup"),
    );
  }

  headings() {
    return [...this.table.tHead.querySelectorAll("[data-sort]")];
  }

  listen() {
    const { form } = this;
    form.addEventListener(
      "input",
      (event) => event.target.name === "words" && this.changed("replace"),
    );
    form.addEventListener("change", (event) => {
      if (event.target === this.part("order")) this.sort(...this.parsed(event.target.value));
      else if (event.target.name !== "words") this.changed("push");
    });
    form.addEventListener("reset", () => setTimeout(() => this.clear()));
    for (const each of form.querySelectorAll("[data-copy]"))
      each.addEventListener("click", () => this.copy(this[each.dataset.copy](), each.textContent));
    for (const each of this.pages.querySelectorAll("button"))
      each.addEventListener("click", () => this.step(Number(each.dataset.step)));
  }

  // Read the address; ignore values that the data does not have.
  restore() {
    this.unsaved = null;
    const query = new URLSearchParams(location.search);
    this.form.elements.words.value = (query.get("words") ?? "").slice(0, LONGEST_SEARCH);
    this.choices = {};
    for (const name of this.names) {
      const value = query.get(name);
      if (this.cells.facets[name]?.numbers.has(value)) this.choices[name] = value;
    }
    for (const each of this.selects) each.value = this.choices[each.name] ?? "";
    const [column, falling] = this.parsed(query.get("sort") ?? "");
    const known =
      column in this.cells.figures ||
      this.headings().some((heading) => heading.dataset.sort === column);
    this.sorted = known ? { column, falling } : { ...DEFAULT };
    this.number = Math.max(1, Math.trunc(Number(query.get("page"))) || 1);
    this.show();
  }

  // An order in the form of the address: a column, with a minus if the highest value comes first.
  parsed(order) {
    return [order.replace(/^-/, ""), order.startsWith("-")];
  }

  query() {
    const query = new URLSearchParams();
    const words = this.form.elements.words.value.trim();
    if (words) query.set("words", words);
    for (const [name, value] of Object.entries(this.choices)) query.set(name, value);
    const { column, falling } = this.sorted;
    if (column !== DEFAULT.column || falling !== DEFAULT.falling)
      query.set("sort", `${falling ? "-" : ""}${column}`);
    if (this.number > 1) query.set("page", this.number);
    return String(query);
  }

  // All typing is one step in the browser's history; each choice is a separate step.
  remember(how) {
    if (this.unsaved?.how === "push") this.save();
    clearTimeout(this.saving);
    this.unsaved = { how, query: this.query() };
    this.saving = setTimeout(() => this.save(), REMEMBERED_MS);
  }

  save() {
    clearTimeout(this.saving);
    const { how, query } = this.unsaved ?? {};
    this.unsaved = null;
    if (!how || query === location.search.slice(1)) return;
    const address = `${location.pathname}${query ? `?${query}` : ""}${location.hash}`;
    history[`${how}State`](history.state, "", address);
  }

  changed(how) {
    for (const { name, value } of this.selects) {
      if (value) this.choices[name] = value;
      else delete this.choices[name];
    }
    this.number = 1;
    this.show();
    this.remember(how);
  }

  clear() {
    this.choices = {};
    this.sorted = { ...DEFAULT };
    this.changed("push");
  }

  turn(column) {
    const again = this.sorted.column === column;
    this.sort(column, again ? !this.sorted.falling : column in this.cells.figures);
  }

  sort(column, falling) {
    this.sorted = { column, falling };
    this.number = 1;
    this.show();
    this.remember("push");
  }

  step(by) {
    this.number += by;
    this.show();
    this.remember("push");
    this.table.closest(".dm-scroll").scrollIntoView({ block: "start" });
  }

  show() {
    const terms = termsOf(this.form.elements.words.value);
    const { choices, names } = this;
    this.found = select(this.cells, { choices, terms, counted: names, ...this.sorted });
    const last = Math.max(1, Math.ceil(this.found.rows.length / ROWS_PER_PAGE));
    this.number = Math.min(this.number, last);
    const from = (this.number - 1) * ROWS_PER_PAGE;
    const rows = [...this.found.rows.subarray(from, from + ROWS_PER_PAGE)];
    this.table.tBodies[0].replaceChildren(
      ...(rows.length ? rows.map((row) => this.row(row)) : [this.nothing()]),
    );
    const { column, falling } = this.sorted;
    this.part("order").value = `${falling ? "-" : ""}${column}`;
    for (const heading of this.headings()) {
      heading.ariaSort =
        heading.dataset.sort !== column ? "none" : falling ? "descending" : "ascending";
    }
    this.pages.hidden = last === 1;
    this.pages.querySelector("[data-part]").textContent = `Page ${this.number} of ${last}`;
    this.pages.querySelector('[data-step="-1"]').disabled = this.number === 1;
    this.pages.querySelector('[data-step="1"]').disabled = this.number === last;
    this.showOptions();
    this.showShares();
    this.form.dataset.state = "ready";
  }

  showOptions() {
    for (const each of this.selects) {
      const counts = this.found.counts[each.name];
      for (let number = 0; number < counts.length; number++) {
        const option = each.options[number + 1];
        const { labels } = this.cells.facets[each.name];
        const text = `${labels[number]} (${figure(counts[number], 0)})`;
        if (option.text !== text) option.text = text;
        option.disabled = counts[number] === 0 && !option.selected;
      }
    }
    const active = Object.keys(this.choices).filter((name) => this.more.includes(name)).length;
    this.part("active").textContent = active ? `(${active} in use)` : "";
  }

  // The numbers of faster and slower rows, as the map colours them.
  showShares() {
    const { rows } = this.found;
    const totals = { hurts: 0, even: 0, helps: 0 };
    for (const row of rows) {
      const ratio = valueIn(this.cells, "speedup", row);
      totals[ratio >= 1 + CLEAR ? "helps" : ratio <= 1 - CLEAR ? "hurts" : "even"]++;
    }
    const share = (direction) => percent(totals[direction] / rows.length);
    const shares = rows.length
      ? `: ${share("helps")} faster by more than 5 %, ${share("hurts")} slower by as much`
      : Object.keys(this.choices).length
        ? ". Clear a filter to see more"
        : "";
    this.part("count").textContent =
      `${figure(rows.length, 0)} of ${figure(this.total, 0)} rows${shares}.`;
    const bar = this.part("bar");
    bar.hidden = !rows.length;
    for (const piece of bar.children) piece.style.flexGrow = totals[piece.dataset.direction];
  }

  // If there is no cell, the form of the home page answers the same question.
  nothing() {
    const chosen = (name) => {
      const { labels, numbers } = this.cells.facets[name];
      return labels[numbers.get(this.choices[name])] ?? "";
    };
    const words = this.form.elements.words.value;
    const card = `${chosen("device") || chosen("vram")} ${words}`.trim();
    const asked = new URLSearchParams({ card, model: chosen("target") });
    const advice = link(`${this.root}?${asked}#mine`, "Ask what to expect");
    const how = link(`${this.root}contribute/`, "measure it");
    const look = { className: "dm-words", colSpan: this.table.tHead.rows[0].cells.length };
    return el("tr", "", el("td", look, "Nobody has measured this. ", advice, " or ", how, "."));
  }

  row(row) {
    const { cells, root } = this;
    const named = (name) => label(cells, name, row);
    const linked = (name) => link(root + page(cells, name, row), named(name));
    const muted = (text) => el("span", "dm-muted", text);
    const below = (text) => (text ? [" ", el("br"), muted(text)] : []);
    const verdict = (kind, name) =>
      el("span", `dm-verdict ${kind}--${key(cells, name, row)}`, named(name));
    const figure = (head, ...children) => {
      const cell = el("td", "dm-num", ...children);
      cell.dataset.label = head;
      return cell;
    };
    const number = (name, head, unit = "") => {
      const text = printed(cells, name, row);
      return figure(head, text === null ? UNKNOWN : text + unit);
    };
    const tier = verdict("dm-tier dm-tier", "tier");
    const head = el("th", { scope: "row" }, linked("device"), " ", el("br"), tier);
    const [way, ...details] = method(cells, row).split(" · ");
    const ways = details.flatMap((each) => [" ", el("span", "dm-nowrap", `· ${each}`)]);
    const speed = [
      ...ranged(el("span", "dm-value", speedup(cells, row)), interval(cells, row)),
      ...[" ", el("br"), verdict("dm-verdict", "verdict")],
    ];
    const [whole, range] = request(cells, row);
    const shown = el("span", "dm-value", whole);
    const asked = figure("Request of 256", ...ranged(shown, range));
    asked.classList.add("dm-two-columns");
    const engine = isUsual(cells, row) ? "" : named("engine");
    return el(
      "tr",
      "",
      head,
      el("td", "", linked("target"), " ", muted(named("quant"))),
      el("td", "", key(cells, "backend", row), ...below(engine)),
      el("td", "dm-method", way, ...ways, ...below(named("draft"))),
      el("td", "", named("task")),
      el("td", "dm-num dm-two-columns", ...speed),
      asked,
      figure("Plain tokens/s", rate(cells, "baseline", row)),
      figure("Plain × speedup", rate(cells, "rate", row)),
      number("tokens", "Tokens per round"),
      number("cost", "R"),
      number("accepted", "Accepted", " %"),
      number("rigs", "Rigs"),
      this.ways(row),
    );
  }

  ways(row) {
    const { cells, root } = this;
    const address = page(cells, "evidence", row);
    if (key(cells, "tier", row) === "published") {
      const { href } = new URL(address, new URL(root, location));
      const source = el("a", { href, rel: "noopener nofollow" }, "source");
      return el("td", "dm-explore__ways", source);
    }
    const others = Number(printed(cells, "submissions", row)) - 1;
    const named = others ? `${others + 1} results` : "result";
    const title = command(cells, row);
    const copy = el("button", { className: "dm-explore__command", type: "button", title }, "copy");
    copy.addEventListener("click", () => this.copy(title, "Command line"));
    const ways = [link(root + address, named), copy];
    return el("td", "dm-explore__ways", ...ways.flatMap((way) => ["\u00a0· ", way]).slice(1));
  }

  link() {
    this.save();
    return location.href;
  }

  csv() {
    return csv(this.cells, this.found.rows, new URL(this.root, location.href).href);
  }

  markdown() {
    return markdown(this.cells, this.found.rows, this.link());
  }

  // If the clipboard is refused, the text is shown in a field, selected.
  async copy(text, what) {
    const fallback = this.part("fallback");
    fallback.hidden = true;
    try {
      await navigator.clipboard.writeText(text);
      this.part("copied").textContent = `${what.replace(/^Copy (as )?/, "")} copied.`;
    } catch {
      fallback.hidden = false;
      const field = fallback.querySelector("textarea");
      field.value = text;
      field.select();
      this.part("copied").textContent = "The browser refused the clipboard; the text is below.";
    }
  }
}

const start = async (form) => {
  const page = new Explore(form, await load(form.dataset));
  page.start();
  return page;
};
document$.subscribe(() => {
  const form = document.getElementById("dm-explore");
  begin(form, start, (why) => `The filters do not work: ${why}. The first cells are below.`);
});
