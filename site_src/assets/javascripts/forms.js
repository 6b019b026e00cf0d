// Find the forms of schemas/vocabulary/server_log.toml in a pasted text: the figures in its lines and
// answers. harness/imports/forms.py reads the same table; a test gives both the same texts.
const MOST_PIECES = 9; // the most pieces of a line that a terminal has wrapped
const NEAR = 40; // characters next to a cut in which a form's sign may be
const DEEPEST = 4; // the most objects around an answer
const SLACK = 1; // seconds by which lines of one log may be out of order
const DAY = 1_000_000; // of a time such as 1130235959

// Python names a group `(?P<name>…)`.
const regular = (pattern, flags = "") => new RegExp(pattern.replaceAll("(?P<", "(?<"), flags);
export const compiled = (table) => ({
  ...table,
  json: regular(table.json),
  clean: table.clean.map(({ find, put, when = "", unless = "(?!)" }) => ({
    put,
    find: regular(find, "gm"),
    applies: (text) => regular(when).test(text) && !regular(unless).test(text),
  })),
  line: Object.fromEntries(
    Object.entries(table.line).map(([name, pattern]) => [name, regular(pattern, "i")]),
  ),
  form: table.form.map((form) => ({
    ...form,
    signs: regular(form.signs),
    lines: form.lines.map((each) => regular(each)),
  })),
  words: {
    ...table.words,
    leave: regular(table.words.leave, "gi"),
    many: regular(table.words.many, "gi"),
    figures: table.words.figures.map((each) => regular(each, "gi")),
  },
  signs: regular(table.form.map(({ signs }) => signs).join("|")),
});
export const serverOf = (line, table) => (line.match(table.line.server) ?? [""])[0].trim();

const milliseconds = (text, units) => {
  const parts = [...text.matchAll(/([0-9.]+)(h|ms|m|s|µs|us|ns)/g)];
  return parts.length ? parts.reduce((all, [, value, unit]) => all + value * units[unit], 0) : NaN;
};
// The figures of one request, run or line; `number` returns a figure in the unit of the table.
export const foundOf = (form, server, figures, part, table) => ({
  form,
  server,
  figures,
  part,
  number: (name) => {
    for (const [key, factor] of Object.entries(table.figure[name] ?? { [name]: 1 })) {
      const stated = figures[key] ?? "";
      if (stated === "") continue;
      const value = key.endsWith("took")
        ? milliseconds(String(stated), table.unit)
        : Number(stated);
      if (Number.isFinite(value) && value >= 0) return value * factor + (key === "steps" ? 1 : 0);
    }
    return null;
  },
});

// ---- lines ---------------------------------------------------------------------------------------
const hitsOf = (line, table) => {
  if (!table.signs.test(line)) return [];
  return table.form.flatMap((form) => {
    if (!form.signs.test(line)) return [];
    const matches = form.lines.map((each) => line.match(each)).filter(Boolean);
    const [hit] = matches.sort((one, two) => one.index - two.index);
    if (!hit) return [];
    const all = Object.entries(hit.groups ?? {});
    const there = all.filter(([, value]) => value);
    const figures = Object.fromEntries(there);
    if (figures.row) figures.row = figures.row.replaceAll(" ", ""); // cuts add blanks
    const end = hit.index + hit[0].length;
    return [{ form, figures, open: there.length < all.length, end }];
  });
};
const counted = (hits) => hits.reduce((all, { figures }) => all + Object.keys(figures).length, 0);
const signed = (line, table) =>
  table.signs.test(line) ? table.form.find(({ signs }) => signs.test(line)) : null;
// Whether a sign begins in a line and ends in the next.
const crosses = (line, next, table) =>
  ["", " "].some((glue) => {
    const start = line.slice(-NEAR);
    const hit = `${start}${glue}${next.slice(0, NEAR)}`.match(table.signs);
    return hit && hit.index < start.length;
  });
// Number, text and figures of each line. A line that lacks figures goes on in the next lines if they
// add some: it was wrapped, between words or anywhere.
const unwrapped = (lines, table) => {
  const found = [];
  for (let at = 0, taken = 1; at < lines.length; at += taken) {
    const whole = lines[at].trimEnd();
    let [line, hits, joins] = [whole, hitsOf(whole, table), [whole, whole]];
    const end = Math.max(0, ...hits.map((hit) => hit.end));
    if (end && hitsOf(whole.slice(end), table).length) {
      found.push({ number: at + 1, line: whole.slice(0, end), hits }); // several lines in one
      [lines[at], taken] = [whole.slice(end), 0];
      continue;
    }
    const isCut = !hits.length && at + 1 < lines.length && crosses(whole, lines[at + 1], table);
    const hasSign = isCut || table.signs.test(whole);
    taken = 1;
    for (let next = 1; hasSign && next < MOST_PIECES && at + next < lines.length; next += 1) {
      const piece = lines[at + next];
      const isWhole = hits.length > 0 && !hits.some(({ open }) => open);
      if (isWhole || (table.signs.test(piece) && !(isCut && next === 1))) break;
      joins = [`${joins[0]} ${piece.trim()}`, `${joins[1]}${piece.trimEnd()}`];
      for (const each of joins) {
        const more = hitsOf(each, table);
        if (counted(more) > counted(hits)) [line, hits, taken] = [each, more, next + 1];
      }
    }
    if (hits.length && /[0-9]$/.test(line) && /^[0-9.]+$/.test(lines[at + taken] ?? "")) {
      line += lines[at + taken]; // cut in a number
      [hits, taken] = [hitsOf(line, table), taken + 1];
    }
    found.push({ number: at + 1, line, hits });
  }
  return found;
};

// ---- parts: a text is one to many runs -----------------------------------------------------------
export const partOf = (...titles) => ({
  titles,
  once: new Set(),
  last: new Map(), // the figures of each form, server and task
  tasks: new Map(), // the number of each slot's last task
  times: new Map(), // of each clock
});
// The clock of a line and its seconds: since a server's start, or digits that grow with the date.
const timeOf = (line, server, table) => {
  const stamp = line.match(table.line.stamp);
  if (stamp) return ["date", Number(stamp[0].replace(/\D/g, ""))];
  const since = line.match(table.line.clock)?.groups;
  return since ? [server, since.minutes * 60 + Number(since.seconds)] : ["", null];
};
// Whether another run begins: an earlier time, another day, or an earlier task of a slot.
const isElsewhere = (part, [clock, time], worker, slot) => {
  const before = time === null ? undefined : part.times.get(clock);
  const isLater = slot && Number(slot.groups.task) < part.tasks.get(worker);
  return isLater || time + SLACK < before || time > before + DAY;
};
const repeats = (figures, own) => Object.keys(figures).some((name) => name in own.figures);
// Whether figures say that another run begins: one that a run states only once, two speeds of an
// interval, fewer tokens or calls so far, or another build's name for them.
const isAgain = ({ form, figures }, own, part, isOnce, time) => {
  if (part.once.has(figures.once ?? "")) return true;
  if (figures.style && (part.style ?? figures.style) !== figures.style) return true;
  if (!own) return false;
  if (["so_far", "calls"].some((name) => Number(figures[name]) < Number(own.figures[name])))
    return true;
  if (form.gives === "rate") return Boolean(figures.series && time && own.time === time);
  return (form.gives === "run" || (form.gives === "request" && isOnce)) && repeats(figures, own);
};
// A title, an earlier time, or figures that a run states only once, begin another part.
export const printed = (text, table) => {
  const [found, unread, tasks] = [[], [], new Map()];
  const [hidden, models] = [new Set(), new Set()]; // lines of a tool's two models are not requests
  let [part, seen] = [partOf(), false];
  for (const { number, line, hits } of unwrapped(text.split(/\r\n|\n|\r/), table)) {
    const server = serverOf(line, table);
    const slot = line.match(table.line.slot);
    // Figures without a prefix belong to the task of a line that has nothing but a prefix.
    if (slot) tasks.set(server, { task: slot.groups.task, isBare: !hits.length });
    const isOther = !slot && hits.some(({ form }) => form.gives === "request");
    const named = tasks.get(server);
    const task = named && (named.isBare || !isOther) ? named.task : null;
    const worker = `${server} ${slot?.groups.slot}`;
    const form = signed(line, table);
    const title = !form && table.line.begins.test(line);
    const when = timeOf(line, server, table);
    const alone = table.line.alone.test(line);
    const isOnce = task !== null || alone;
    const keyOf = ({ form, figures: { series, kind } }, of = task) =>
      JSON.stringify([form.of, server, kind ? kind : of, series]);
    const again = (hit) =>
      !hidden.has(hit.form.of) &&
      (isAgain(hit, part.last.get(keyOf(hit)), part, isOnce, when[1]) ||
        (hit.figures.kind && !part.last.has(keyOf(hit)) && (part.drafted ?? task) !== task));
    if (seen && (title || isElsewhere(part, when, worker, slot) || hits.some(again))) {
      [part, seen] = [partOf(), false];
      hidden.clear();
      if (!slot) tasks.clear();
    }
    if (title) part.titles.push(line.trim());
    if (when[1] !== null) part.times.set(...when);
    if (slot) part.tasks.set(worker, Number(slot.groups.task));
    for (const name of ["layers", "power", "mismatch"])
      part[name] ??= line.match(table.line[name])?.groups;
    if (!hits.length && form) unread.push({ number, form });
    for (const hit of hits) {
      if (hidden.has(hit.form.of)) {
        models.add(hit.form.of);
        continue;
      }
      seen = true;
      hidden.add(hit.form.hides);
      if (hit.figures.once) part.once.add(hit.figures.once);
      part.style ??= hit.figures.style;
      if (hit.figures.kind) part.drafted = task;
      const collects = hit.form.gives === "request" || hit.form.gives === "run";
      // The task of a request may be stated after its first lines.
      let own = part.last.get(keyOf(hit)) ?? part.last.get(keyOf(hit, null));
      if (own && collects && !repeats(hit.figures, own)) Object.assign(own.figures, hit.figures);
      else {
        own = foundOf(hit.form, server, { ...hit.figures }, part, table);
        found.push(own);
      }
      part.last.set(keyOf(hit), own);
      Object.assign(own, { task, time: when[1], clock: part.times.size > 0, alone });
    }
  }
  return { found, unread, models };
};

// ---- answers: one value, a list, one after the other ------------------------------------------
const TOKENS = /"(?:[^"\\\n]|\\.)*"|[{}[\]]/g;
const tried = (text) => {
  try {
    return [JSON.parse(text)].flat();
  } catch {
    return [];
  }
};
// The values of a text, each with the line before it; the first or last object may be cut.
export const parsed = (text) => {
  const whole = tried(text);
  if (whole.length) return [["", whole]];
  const [starts, found] = [[], []];
  for (const { 0: sign, index } of text.matchAll(TOKENS)) {
    if ("{[".includes(sign)) starts.push(index);
    else if ("}]".includes(sign) && starts.length) {
      const start = starts.pop();
      while (found.at(-1)?.[0] > start) found.pop(); // inside this one
      found.push([start, index + 1]);
    }
  }
  return found.map(([start, end], at) => {
    const before = text.slice(found[at - 1]?.[1] ?? 0, start).split("\n");
    const title = before.filter((line) => /[a-z]/i.test(line)).at(-1) ?? "";
    return [title, tried(text.slice(start, end))];
  });
};

// Of a streamed answer, the chunk with the times: the last chunk or the one after it.
const ENDS = /"finish_reason":\s*"|"stop":\s*true|"choices":\s*\[\s*\]/;
export const joined = (text, table) => {
  const undone = (all, { applies, find, put }) => (applies(all) ? all.replace(find, put) : all);
  const plain = table.clean.reduce(undone, text);
  if (!plain.trimStart().startsWith("data:")) return plain;
  const ends = (line) => line !== undefined && line.includes('"timings"') && ENDS.test(line);
  const lines = plain.split("\n").filter((line) => line.trim());
  // The chunk after the chunk with the times repeats the times.
  const chunks = lines.filter((line, number) => ends(line) && !ends(lines[number - 1]));
  return chunks.map((line) => line.trim().slice("data:".length)).join("\n");
};
const valueAt = (row, path) =>
  path.split(".").reduce((value, key) => (value === null ? null : (value?.[key] ?? null)), row);
// A figure of a value, or of the request at a place of lists; a list in a list is summed.
const figureAt = (value, at) =>
  at === null || !Array.isArray(value) ? value : [value[at]].flat().reduce((a, b) => a + b, 0);
// The answers in a value: the value itself, or the answers inside it; a script may have saved prompts
// with them.
const answersIn = (value, part, table, depth = 0) => {
  if (!value || typeof value !== "object" || depth > DEEPEST + 1) return [];
  const own = table.answer.filter(
    ({ needs, unless }) =>
      needs.every((path) => valueAt(value, path) !== null) && !(unless && valueAt(value, unless)),
  );
  if (!own.length || Array.isArray(value))
    return Object.values(value).flatMap((each) => answersIn(each, part, table, depth + 1));
  const rows = own.flatMap((form) =>
    form.lists ? value[form.needs[0]].map((_, at) => [form, at]) : [[form, null]],
  );
  const last = rows.findIndex(([, at]) => at === null);
  return rows.slice(0, last + 1 || rows.length).map(([form, at]) => {
    const figures = {};
    for (const [name, paths] of Object.entries(form.figures)) {
      const stated = paths.split(" ").map((path) => figureAt(valueAt(value, path), at));
      figures[name] = stated.find((each) => typeof each === "number");
    }
    return foundOf(form, "", figures, part, table);
  });
};

export const answered = (text, table) => {
  let part = null;
  return parsed(text).flatMap(([title, values]) => {
    if (!part || title) part = partOf(...(title ? [title.trim()] : []));
    return values.flatMap((value) => answersIn(value, part, table));
  });
};
