// Find the forms of schemas/vocabulary/server_log.toml in a pasted text: the figures in its lines and
// answers. harness/imports/forms.py reads the same table; a test gives both the same texts.
const MOST_PIECES = 9; // the most pieces of a line that a terminal has wrapped
const NEAR = 40; // characters next to a cut in which a form's sign may be
const DEEPEST = 4; // the most objects around an answer

// Python names a group `(?P<name>…)`.
const regular = (pattern) => new RegExp(pattern.replaceAll("(?P<", "(?<"));
export const compiled = (table) => ({
  ...table,
  json: regular(table.json),
  line: Object.fromEntries(
    Object.entries(table.line).map(([name, pattern]) => [name, regular(pattern)]),
  ),
  form: table.form.map((form) => ({
    ...form,
    signs: regular(form.signs),
    lines: form.lines.map(regular),
  })),
  signs: regular(table.form.map(({ signs }) => signs).join("|")),
});
export const serverOf = (line, table) => (line.match(table.line.server) ?? [""])[0].trim();

const milliseconds = (text, units) => {
  const parts = [...text.matchAll(/([0-9.]+)(h|ms|m|s|µs|us|ns)/g)];
  return parts.length ? parts.reduce((all, [, value, unit]) => all + value * units[unit], 0) : NaN;
};
// The figures of one request, run or line; `number` returns a figure in the unit of the table.
const foundOf = (form, server, figures, table) => ({
  form,
  server,
  figures,
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
    const hit = form.signs.test(line) && form.lines.map((each) => line.match(each)).find(Boolean);
    if (!hit) return [];
    const all = Object.entries(hit.groups ?? {});
    const there = all.filter(([, value]) => value);
    const figures = Object.fromEntries(there);
    if (figures.series) figures.series = figures.series.replaceAll(" ", ""); // cuts add blanks
    return [{ form, figures, open: there.length < all.length, start: hit.index }];
  });
};
const counted = (hits) => hits.reduce((all, { figures }) => all + Object.keys(figures).length, 0);

// Whether a longer line has all figures of the shorter line; its last number may go on.
const keeps = (more, hits) =>
  hits.every(({ form, figures }) =>
    more.some(
      (own) =>
        own.form === form &&
        Object.entries(figures).every(([name, value]) => own.figures[name]?.startsWith(value)),
    ),
  );
// Pieces joined to one line: cut between words, cut at one width, cut anywhere.
const joinedLines = (pieces) => {
  const width = Math.max(...pieces.map((piece) => piece.length));
  const last = pieces.length - 1;
  const ends = pieces.map((piece, at) =>
    at === last || piece.length === width ? piece : `${piece} `,
  );
  return [pieces.join(" "), ends.join(""), pieces.join("")];
};
const signed = (line, table) =>
  table.signs.test(line) ? table.form.find(({ signs }) => signs.test(line)) : null;
// Whether the figures of a line with a sign begin in the line before.
const begins = (line, piece, table) =>
  table.signs.test(piece) &&
  [" ", ""].some((glue) =>
    hitsOf(`${line}${glue}${piece}`, table).some(({ start }) => start < line.length),
  );
// Whether a line without figures has a sign, or a sign that continues in the next line.
const goesOn = (line, next, table) => {
  if (next === undefined) return false;
  if (table.signs.test(line)) return true;
  const start = line.slice(-NEAR);
  if (begins(line, next, table)) return true;
  return [" ", ""].some((glue) => {
    const hit = `${start}${glue}${next.slice(0, NEAR)}`.match(table.signs);
    return (
      hit && hit.index < start.length && start.length < hit.index + hit[0].length - glue.length
    );
  });
};
// Text and figures of each line; the pieces of a wrapped line are joined.
const unwrapped = (lines, table) => {
  const found = [];
  for (let at = 0, pieces = 1; at < lines.length; at += pieces) {
    let best = lines[at].trimEnd();
    let hits = hitsOf(best, table);
    const own = signed(best, table);
    pieces = 1;
    const rest = lines.slice(at + 1, at + MOST_PIECES).map((line) => line.trimEnd());
    const taken = [best];
    const more = hits.length ? hits.some(({ open }) => open) : goesOn(best, rest[0], table);
    for (const piece of more ? rest : []) {
      if (
        table.signs.test(piece) &&
        (hits.length || taken.length > 1 || !begins(best, piece, table))
      )
        break;
      taken.push(piece);
      for (const line of joinedLines(taken)) {
        const got = hitsOf(line, table);
        const isOwn = own === null || got.some(({ form }) => form === own);
        if (isOwn && counted(got) > counted(hits) && keeps(got, hits))
          [best, pieces, hits] = [line, taken.length, got];
      }
      if (hits.length && !hits.some(({ open }) => open)) break;
    }
    const digits = rest[pieces - 1] ?? "";
    if (/[0-9]$/.test(best) && /^[0-9.]+$/.test(digits) && hits.length) {
      [best, pieces] = [best + digits, pieces + 1];
      hits = hitsOf(best, table);
    }
    found.push({ number: at + 1, line: best, hits });
  }
  return found;
};

const printed = (text, table) => {
  const [found, unread, last, tasks] = [[], [], new Map(), new Map()];
  const [hidden, models] = [new Set(), new Set()]; // lines of a tool's two models are not requests
  for (const { number, line, hits } of unwrapped(text.split(/\r\n|\n|\r/), table)) {
    const server = serverOf(line, table);
    const slot = line.match(table.line.slot);
    if (slot) tasks.set(server, slot[0]);
    const form = signed(line, table);
    if (!hits.length && form) unread.push({ number, form });
    for (const { form, figures } of hits) {
      if (hidden.has(form.of)) {
        models.add(form.of);
        continue;
      }
      hidden.add(form.hides);
      const key = JSON.stringify([form.of, server, tasks.get(server) ?? ""]);
      const own = last.get(key);
      const collects = form.gives === "request" || form.gives === "run";
      if (own && collects && !Object.keys(figures).some((name) => name in own.figures))
        Object.assign(own.figures, figures);
      else {
        found.push(foundOf(form, server, { ...figures }, table));
        last.set(key, found.at(-1));
      }
    }
  }
  return { found, unread, models };
};

// ---- answers: one value, a list, one after the other ------------------------------------------
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\]]/g;
const objects = (text) => {
  const found = [];
  let [depth, start] = [0, 0];
  for (const { 0: sign, index } of text.matchAll(TOKENS)) {
    if ("{[".includes(sign) && depth++ === 0) start = index;
    else if ("}]".includes(sign) && depth && --depth === 0)
      found.push(text.slice(start, index + 1));
  }
  return found;
};
const tried = (text) => {
  try {
    return [JSON.parse(text)].flat();
  } catch {
    return null;
  }
};
const parsed = (text) => tried(text) ?? objects(text).flatMap((each) => tried(each) ?? []);

// Of a streamed answer, the chunk with the times: the last chunk or the one after it.
const ENDS = /"finish_reason":\s*"|"stop":\s*true|"choices":\s*\[\s*\]/;
export const joined = (text) => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours of a terminal begin with it
  const plain = text.replace(/\x1b\[[0-9;]*m/g, "");
  if (!plain.trimStart().startsWith("data:")) return plain;
  const ends = (line) => line !== undefined && line.includes('"timings"') && ENDS.test(line);
  const lines = plain.split("\n").filter((line) => line.trim());
  // The chunk after the chunk with the times repeats the times.
  const chunks = lines.filter((line, number) => ends(line) && !ends(lines[number - 1]));
  return chunks.map((line) => line.trim().slice("data:".length)).join("\n");
};
const valueAt = (row, path) =>
  path.split(".").reduce((value, key) => (value === null ? null : (value?.[key] ?? null)), row);
// The answers in a value: the value itself, or the answers inside it; a script may have saved prompts
// with them.
const answersIn = (value, table, depth = 0) => {
  if (!value || typeof value !== "object" || depth > DEEPEST + 1) return [];
  const form = table.answer.find(
    ({ needs, unless }) =>
      needs.every((path) => valueAt(value, path) !== null) && !(unless && value[unless]),
  );
  if (!form || Array.isArray(value))
    return Object.values(value).flatMap((each) => answersIn(each, table, depth + 1));
  const figures = {};
  for (const [name, paths] of Object.entries(form.figures)) {
    const stated = paths.split(" ").map((path) => valueAt(value, path));
    figures[name] = stated.find((each) => typeof each === "number");
  }
  return [foundOf(form, "", figures, table)];
};

// All figures in a text, and the lines that could not be read; a log may have each line in JSON.
export const statedIn = (text, table) => {
  const isJson = table.json.test(text);
  const log = isJson && text.includes('"predicted_n"') ? null : printed(text, table);
  if (log && (!isJson || log.found.some(({ form }) => form.gives === "request")))
    return { ...log, json: false };
  const found = parsed(text).flatMap((value) => answersIn(value, table));
  return { json: true, found, unread: [], models: new Set() };
};
