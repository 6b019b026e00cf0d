// Compare two settings task by task: two places (device and backend), or two arms. A side is
// `a` or `b` in the address: a setup, or a place if everything in common is compared.
import { begin, figure, isUsual, key, label, load, page, printed } from "./cells.js";
import { interval, method, ranged, rate, request, speedup } from "./cells-text.js";
import { el } from "./dom.js";
import { times, UNKNOWN } from "./say.js";

const MOST_ROWS = 200;
const SHAPE = "target quant method depth concurrency draft tier suite conditions".split(" ");
const SIDES = ["a", "b"];
const NAMES = { a: "First", b: "Second" };
const HEADS = [
  "Speedup, 95 % [another machine]",
  "Request of 256 tokens",
  "Tokens per round",
  "R",
  "Tokens/s: plain, plain × speedup",
];

// Places with their setups, and setups with their rows; a shape is a setup regardless of its
// place.
const index = (cells) => {
  const [places, setups] = [new Map(), new Map()];
  for (let row = 0; row < cells.rows; row++) {
    const name = key(cells, "setup", row);
    if (!name) continue; // a published row, of which no other task is known
    if (!setups.has(name)) {
      const parts = ["device", "backend", ...(isUsual(cells, row) ? [] : ["engine"])];
      const place = parts.map((each) => key(cells, each, row)).join("~");
      const shape = JSON.stringify(
        SHAPE.map((each) => cells.facets[each] && key(cells, each, row)),
      );
      if (!places.has(place))
        places.set(place, {
          place,
          device: key(cells, "device", row),
          engine: key(cells, "engine", row),
          label: parts.map((each) => label(cells, each, row)).join(" · "),
          shapes: new Map(),
        });
      setups.set(name, { setup: name, place, shape, row, tasks: new Map() });
      places.get(place).shapes.set(shape, name);
    }
    setups.get(name).tasks.set(key(cells, "task", row), row);
  }
  return {
    places: new Map(
      [...places].sort(([, one], [, other]) => one.label.localeCompare(other.label, "en")),
    ),
    setups,
  };
};

const words = (cells, row) => {
  const parts = [
    `${label(cells, "target", row)} ${key(cells, "quant", row)}`,
    method(cells, row),
    label(cells, "draft", row),
  ];
  if (key(cells, "tier", row) !== "measured") parts.push(label(cells, "tier", row));
  return parts.filter(Boolean).join(", ");
};

class Compare {
  constructor(form, cells) {
    this.form = form;
    this.cells = cells;
    this.section = document.getElementById("dm-compared");
    Object.assign(this, index(cells));
    for (const side of SIDES) {
      this.select(side, "place").append(
        ...[...this.places.values()].map(({ place, label: text }) => new Option(text, place)),
      );
    }
    form.addEventListener("change", (event) => this.changed(event.target));
    form
      .querySelector('[data-part="swap"]')
      .addEventListener("click", () => this.go({ a: this.sides.b, b: this.sides.a }));
  }

  select(side, kind) {
    return this.form.querySelector(`[data-side="${side}"][data-kind="${kind}"]`);
  }

  // Read the address: names that the data do not have count as missing.
  restore() {
    const query = new URLSearchParams(location.search);
    const asked = Object.fromEntries(SIDES.map((side) => [side, this.side(query.get(side))]));
    if (asked.a || asked.b) return this.show(this.completed(asked));
    return this.wait();
  }

  // Nothing is chosen: the pairs below stay the answer until a place is chosen.
  wait() {
    this.sides = null;
    this.section.hidden = true;
    for (const side of SIDES) this.select(side, "place").value = "";
    for (const side of SIDES) this.select(side, "setup").disabled = true;
    this.form.querySelector('[data-part="swap"]').disabled = true;
    this.form.dataset.state = "ready";
  }

  side(name) {
    if (this.setups.has(name)) return { place: this.setups.get(name).place, setup: name };
    return this.places.has(name) ? { place: name, setup: null } : null;
  }

  // The partner for a single side: the same setup on the nearest place, else another arm.
  completed({ a, b }) {
    if (a && b) return { a, b };
    if (b) return { a: this.opposite(b), b };
    const second = this.opposite(a);
    if (a.setup || second.place !== a.place) return { a, b: second };
    const arm = { place: a.place, setup: [...this.places.get(a.place).shapes.values()][0] };
    return { a: arm, b: this.opposite(arm) };
  }

  // Other backends of the same device come first, then its other engines, then all other
  // places.
  near({ place, device, engine }) {
    const others = [...this.places.values()]
      .filter((each) => each.place !== place)
      .sort((one, other) => (one.engine !== engine) - (other.engine !== engine));
    const same = others.filter((each) => each.device === device);
    return same.length ? same : others;
  }

  opposite({ place, setup }) {
    const here = this.places.get(place);
    const others = [...this.near(here), ...this.places.values()].filter(
      (each) => each.place !== place,
    );
    if (setup) {
      const { shape, row } = this.setups.get(setup);
      const model = (each) =>
        ["target", "quant"].map((name) => key(this.cells, name, each)).join(" ");
      const there = others.find((each) => each.shapes.has(shape));
      if (there) return { place: there.place, setup: there.shapes.get(shape) };
      const same = (name) => model(this.setups.get(name).row) === model(row);
      const arms = [...here.shapes.values()].filter((name) => name !== setup);
      return { place, setup: arms.find(same) ?? arms[0] ?? setup };
    }
    const there = others.find((each) => this.common(place, each.place).length) ?? here;
    return { place: there.place, setup: null };
  }

  common(one, other) {
    const there = this.places.get(other).shapes;
    return [...this.places.get(one).shapes.keys()].filter((shape) => there.has(shape));
  }

  changed({ dataset: { side, kind }, value }) {
    if (!value && kind === "place") return;
    if (!this.sides) {
      this.go(this.completed({ [side]: { place: value, setup: null } }));
      return;
    }
    const sides = {
      ...this.sides,
      [side]:
        kind === "setup"
          ? { place: this.sides[side].place, setup: value || null }
          : this.moved(side, value),
    };
    this.go(sides);
  }

  // On another place, the same arm stays chosen if it was measured there.
  moved(side, place) {
    const { setup } = this.sides[side];
    const same = setup && this.places.get(place).shapes.get(this.setups.get(setup).shape);
    return { place, setup: same ?? null };
  }

  go(sides) {
    this.show(sides);
    const query = new URLSearchParams(location.search); // the filters of the page stay
    for (const side of SIDES) query.set(side, sides[side].setup ?? sides[side].place);
    history.pushState(history.state, "", `${location.pathname}?${query}#compare`);
  }

  // If one side names an arm and the other only a place, the other side uses the same arm.
  resolved(sides) {
    const [a, b] = SIDES.map((side) => sides[side]);
    const there = (from, to) => ({
      ...to,
      setup: this.places.get(to.place).shapes.get(this.setups.get(from.setup).shape) ?? null,
    });
    if (a.setup && !b.setup) return { a, b: there(a, b) };
    return b.setup && !a.setup ? { a: there(b, a), b } : { a, b };
  }

  show(sides) {
    const { a, b } = this.resolved(sides);
    this.sides = { a, b };
    this.form.querySelector('[data-part="swap"]').disabled = false;
    for (const side of SIDES) this.showSide(side, this.sides[side]);
    const pairs = this.pairs(a, b);
    this.section.hidden = false;
    this.section.querySelector('[data-part="says"]').textContent = this.sentence(pairs, !a.setup);
    this.section.querySelector("thead").replaceChildren(...this.heads(!a.setup));
    this.section
      .querySelector("tbody")
      .replaceChildren(...pairs.slice(0, MOST_ROWS).map((pair) => this.row(pair, !a.setup)));
    this.form.dataset.state = "ready";
  }

  showSide(side, { place, setup }) {
    const choices = [...this.places.get(place).shapes.values()];
    const options = choices.map(
      (name) => new Option(words(this.cells, this.setups.get(name).row), name),
    );
    options.sort((one, other) => one.text.localeCompare(other.text, "en"));
    const select = this.select(side, "setup");
    select.replaceChildren(new Option("All common settings", ""), ...options);
    select.value = setup ?? "";
    select.disabled = false;
    this.select(side, "place").value = place;
  }

  // The matching rows of the two sides: one task and, if no shape was chosen, one shape.
  pairs(a, b) {
    if (Boolean(a.setup) !== Boolean(b.setup)) return [];
    const setups = a.setup
      ? [[a.setup, b.setup]]
      : this.common(a.place, b.place).map((shape) => [
          this.places.get(a.place).shapes.get(shape),
          this.places.get(b.place).shapes.get(shape),
        ]);
    const found = setups.flatMap(([one, other]) => {
      const there = this.setups.get(other).tasks;
      return [...this.setups.get(one).tasks]
        .filter(([task]) => there.has(task))
        .map(([task, row]) => this.pair(row, there.get(task)));
    });
    const distance = ({ ratio }) => (Number.isNaN(ratio) ? -1 : Math.abs(Math.log(ratio)));
    const task = ({ first }) => this.cells.facets.task.index[first];
    return found.sort(
      a.setup
        ? (one, other) => task(one) - task(other)
        : (one, other) => distance(other) - distance(one),
    );
  }

  pair(first, second) {
    const value = (name, row) => figure(this.cells, name, row);
    const ratio = value("speedup", first) / value("speedup", second);
    const better =
      value("low", first) > value("high", second)
        ? "a"
        : value("low", second) > value("high", first)
          ? "b"
          : null;
    return { first, second, ratio, better };
  }

  sentence(pairs, mixed) {
    if (!pairs.length)
      return mixed
        ? "No model and method was measured in both places. Choose another place, or a " +
            "setting on each side."
        : "The second side has not been measured on this task or place. Choose another task or " +
            "place.";
    const count = (side) => pairs.filter(({ better }) => better === side).length;
    const what = mixed ? "common cells" : "tasks";
    const more =
      pairs.length > MOST_ROWS ? ` The table shows the ${MOST_ROWS} that differ most.` : "";
    return (
      `Of ${pairs.length} ${what}, speculation gains clearly more on the first side in ` +
      `${count("a")} and on the second side in ${count("b")}. In ${count(null)} the intervals ` +
      `for another machine overlap.${more}`
    );
  }

  heads(mixed) {
    const cell = (text, colSpan, className) =>
      el("th", { className, scope: colSpan > 1 ? "colgroup" : "col", colSpan }, text);
    const title = (side) => `${NAMES[side]}: ${this.places.get(this.sides[side].place).label}`;
    const top = el(
      "tr",
      "",
      cell("", mixed ? 2 : 1, ""),
      ...SIDES.map((side) => cell(title(side), HEADS.length, "dm-compare__side")),
      cell("", 1, ""),
    );
    const names = [
      ...(mixed ? ["Model and method"] : []),
      "Task",
      ...HEADS,
      ...HEADS,
      "First over second",
    ];
    return [
      top,
      el(
        "tr",
        "",
        ...names.map((name) =>
          cell(name, 1, /Speedup|Request|Tokens|^R$|over/.test(name) ? "dm-num" : ""),
        ),
      ),
    ];
  }

  row({ first, second, ratio, better }, mixed) {
    const { cells } = this;
    const made = el("tr", "");
    if (mixed) made.append(el("td", "dm-whole", words(cells, first)));
    const head = el("th", { scope: "row" }, label(cells, "task", first));
    made.append(head, ...this.figures("a", first), ...this.figures("b", second));
    const clear = better ? `${better === "a" ? "first" : "second"} is clearly better` : "no claim";
    const over = times(Number.isNaN(ratio) ? null : ratio);
    const ratios = [el("span", "dm-value", over), el("br"), el("span", "dm-muted", clear)];
    const last = el("td", "dm-num dm-two-columns dm-whole", ...ratios);
    last.dataset.label = "First over second";
    made.append(last);
    return made;
  }

  figures(side, row) {
    const { cells } = this;
    const range = interval(cells, row);
    const number = (name) => printed(cells, name, row) ?? UNKNOWN;
    const href = this.form.dataset.root + page(cells, "evidence", row);
    const link = el("a", { className: "dm-value", href }, speedup(cells, row));
    const look = `dm-verdict dm-verdict--${key(cells, "verdict", row)}`;
    const verdict = el("span", look, label(cells, "verdict", row));
    const judged = el("div", "dm-compare__figure", ...ranged(link, range), el("br"), verdict);
    judged.dataset.name = NAMES[side]; // for phones, where the two sides have no heading
    const [whole, around] = request(cells, row);
    const asked = ranged(el("span", around ? "dm-value" : "dm-muted dm-reason", whole), around);
    const rates = ["baseline", "rate"].map((name) => rate(cells, name, row)).join(", ");
    const made = [
      el("td", "dm-num dm-two-columns", judged),
      el("td", "dm-num dm-two-columns", ...asked),
    ];
    made.push(...[number("tokens"), number("cost"), rates].map((text) => el("td", "dm-num", text)));
    for (const [each, cell] of made.entries())
      Object.assign(cell.dataset, { side: NAMES[side].toLowerCase(), label: HEADS[each] });
    return made;
  }
}

const asked = () => SIDES.some((side) => new URLSearchParams(location.search).has(side));

const start = async (form) => {
  const page = new Compare(form, await load(form.dataset));
  page.restore();
  return page;
};

// Compare is a mode of Explore: its file is loaded when the mode is opened, by a click or by
// the address.
document$.subscribe(() => {
  const mode = document.getElementById("dm-compare-mode");
  if (!mode) return;
  const form = document.getElementById("dm-compare");
  const failure = (why) => `The comparison does not work: ${why}.`;
  mode.addEventListener("toggle", () => mode.open && begin(form, start, failure));
  if (asked()) mode.open = true;
});
