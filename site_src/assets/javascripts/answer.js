// An answer about a visitor's machine as a piece of a page: the strip enlarged with its sentence,
// what it costs, its commands and its source, then the nearest figures. Text nodes only.
"use strict";

import { modelsFor, parse } from "./matching.js";
import { alternatives, largest, modelFor, plan, verdict } from "./plan.js";
import { asks, decode, placeOf, reply, understand } from "./reply.js";
import { count, listed, number, rate, sentence, times, withArticle } from "./say.js";
import { enlarged, some } from "./strips.js";

const ALL = "all";
const GAIN = 1.05; // an alternative that is worth a line
const REQUEST_TOKENS = 256;
const capital = (text) => text[0].toUpperCase() + text.slice(1);
const UNSTATED = "not stated"; // the backend of some published figures

const read = async (url) => {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return answer.json();
};

// Everything that answers need, loaded once.
const loaded = new Map();
export const load = ({ machine, vocabulary, root }) => {
  if (!loaded.has(machine)) {
    const files = Promise.all([read(machine), read(vocabulary)]);
    loaded.set(
      machine,
      files.then(([file, words]) => ({ ...decode(file, words), root })),
    );
  }
  return loaded.get(machine);
};

export const answerTo = async (data, asked) => {
  const question = understand(data, asked);
  if (!asks(question)) return { question, nothing: true };
  if (question.memory !== null || question.size || question.models.length || question.typed.model)
    data.plans ??= read(data.root + data.plan);
  const answer = reply(data, question, (await data.plans) ?? null);
  const room = await planned(data, answer.question, (answer.found ?? answer.close[0])?.model);
  return { ...answer, room };
};

// The planner's answer where memory and model are known; its file comes with the first such
// question.
const planned = async (data, question, answered) => {
  const { devices, memory, models, size, typed, processor } = question;
  if (memory === null || (!size && !models.length) || processor) return null;
  const file = await data.plans;
  const named = typed.model ? modelsFor(data.rules, file.models, typed.model).models[0] : null;
  const model = modelFor(file, question, named, answered?.label);
  const bandwidth = devices.find((each) => each.bandwidth !== null)?.bandwidth ?? null;
  const known = named ?? models.find((each) => each.plan);
  if (!model) return null;
  // The name of the answer stays; the shape may be that of a model that is built alike.
  const own = [...models, answered].find((each) => each?.plan === model.id);
  const instead = own || known || !parse(data.rules, typed.model).words.length ? null : typed.model;
  return {
    file,
    instead,
    shape: own && own.label !== model.label ? model.label : null,
    ...plan(file, own ? { ...model, label: own.label } : model, {
      ...placeOf(question),
      bandwidth,
    }),
  };
};

// ---- parts ------------------------------------------------------------------------------------
const el = (tag, name, ...children) => {
  const node = document.createElement(tag);
  if (name) node.className = name;
  node.append(...children.filter((child) => child !== null && child !== ""));
  return node;
};
const link = (href, text) => Object.assign(el("a", "", text), { href });
const taskWords = (words, row) => {
  if (Object.hasOwn(words.tasks, row.task)) return `on the task ${words.tasks[row.task].label}`;
  if (row.own_tasks) return "over the source’s own tasks";
  return row.tier === "published" ? "on its author’s prompts" : "over all tasks";
};

const credit = (data, row) => {
  const source = data.sources[row.source];
  const line = el("p", "dm-muted dm-small dm-credit", "Source: ");
  if (source)
    line.append(
      link(`${data.root}data/#${row.source}`, source.title),
      source.author ? ` by ${source.author}` : "",
      source.licence ? `, ${source.licence}` : ", no licence stated",
      row.contributor ? `, row by ${row.contributor}` : "",
      " · ",
    );
  line.append(
    link(
      data.root + row.evidence,
      row.tier === "published" ? "the printed figures" : "its raw trials",
    ),
    ` · ${[row.tier, row.day, row.build && `build ${row.build}`].filter(Boolean).join(", ")}`,
  );
  return line;
};

const copied = (text) => {
  const button = Object.assign(el("button", "dm-copy", "Copy"), { type: "button" });
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Select the line to copy it";
    }
  });
  return button;
};

const command = (words, line) =>
  el(
    "div",
    "dm-advice__command",
    el("p", "dm-small", words, " ", copied(line)),
    el("pre", "", el("code", "", line)),
  );

// ---- sentences --------------------------------------------------------------------------------
const sizeOf = (parameters) => `${Number((parameters / 1e9).toFixed(3))}B`;
const sizeWords = ({ parameters, from, below }) =>
  parameters
    ? withArticle(`${sizeOf(parameters)} model`)
    : below
      ? `a model of ${sizeOf(from)} to ${sizeOf(below)}`
      : `a model above ${sizeOf(from)}`;
const modelWords = ({ models, size, typed, bySize }) =>
  bySize || !typed.model ? (models[0]?.label ?? (size ? sizeWords(size) : "")) : typed.model;
const cardWords = ({ devices, memory, typed, unknown, processor }) =>
  devices[0]?.label ??
  (unknown
    ? typed.card
    : processor
      ? "a processor"
      : memory === null
        ? ""
        : `a card with ${memory} GB`);
const viewWords = ({ methods }, { method, backend, tier }) => [
  method && `with ${methods[method].label}`,
  backend && `through ${backend}`,
  tier && `(${tier} figures only)`,
];
const asked = (words, question) =>
  [
    [modelWords(question), cardWords(question)].filter(Boolean).join(" on ") || "this",
    ...viewWords(words, question.view),
  ]
    .filter(Boolean)
    .join(" ");

// What was asked, in the visitor's own words and in the site's.
const heading = (data, question) => {
  const { typed, task, devices } = question;
  const meant = devices[0] && devices[0].label !== typed.card ? ` (${devices[0].label})` : "";
  const words = [typed.card + meant, typed.model, task === ALL ? "" : data.words.tasks[task].label];
  return el("h2", "dm-answer__asked", words.filter(Boolean).join(" · "));
};

// Where a figure comes from: how many people, what they found, what may be claimed.
const origin = ({ words }, row) => {
  const { people, figures, choices, interval_low: bound } = row;
  const [least, most] = [times(row.least), times(row.most)];
  const choice =
    choices > 1 ? sentence(words, "choice", { settings: count(choices, "setting") }) : "";
  const kind = sentence(words, row.own_tasks ? "this-machine" : "another-machine");
  if (row.tier !== "published") {
    const found = row.verdict === "helps" ? "at-least" : "no-gain";
    const claim = sentence(words, found, { bound: times(bound), choice, kind });
    return row.interval_low === null ? claim : `${claim} ${sentence(words, "interval", { kind })}`;
  }
  if (people > 1) return sentence(words, "median-of-people", { people, least, most });
  return sentence(words, figures > 1 ? "median-of-one" : "one-printed", {
    figures,
    least: times(row.dots[0]),
    most: times(row.dots.at(-1)),
  });
};

const direct = (data, answer) => {
  const { found: row, question } = answer;
  const { words } = data;
  const { length } = row.quantisations;
  const backends = row.backends.filter((each) => each !== UNSTATED);
  const through = backends.length ? ` through ${listed(backends)}` : "";
  const weights =
    length > 1 ? `, ${length} quantisations` : length ? `, ${row.quantisations[0]}` : "";
  const request =
    row.tier === "published"
      ? ""
      : row.stated_request === null
        ? sentence(words, "no-prompt-time")
        : sentence(words, "request", {
            length: ` of ${REQUEST_TOKENS} tokens`,
            ratio: times(row.stated_request),
          });
  const doubt = row.verdict === "uncertain" && row.doubt;
  const more = [
    doubt ? sentence(words, "no-verdict", { doubt: capital(words.doubts[doubt] ?? doubt) }) : "",
    row.differs ? sentence(words, "differs") : "",
    answer.exact
      ? ""
      : sentence(words, "nearest-model", { asked: modelWords(question), model: row.model.label }),
    question.task !== ALL && row.task !== question.task ? sentence(words, "other-task") : "",
  ];
  return [
    enlarged(data, row),
    el(
      "p",
      "",
      `${row.setting.label}${through}${weights}, ${taskWords(words, row)}. `,
      [origin(data, row), ...more, request].filter(Boolean).join(" "),
    ),
    costs(data, answer),
  ];
};

const costs = ({ words }, { cost, found }) => {
  if (!cost) return null;
  const { kind, gib, before, after } = cost;
  const context =
    before && after
      ? sentence(words, "cost-context", { before: number(before, 0), after: number(after, 0) })
      : "";
  const name = kind === "none" ? "cost-none" : kind === "built-in" ? "cost-head" : "cost-draft";
  return el(
    "p",
    "dm-small",
    kind === "none"
      ? sentence(words, name)
      : sentence(words, name, { gib: number(gib, 1), context, draft: found.drafts[0] ?? "" }),
  );
};

const without = ({ words }, { question, close }) => [
  el("p", "dm-advice__figure", el("strong", "", sentence(words, "none"))),
  el(
    "p",
    "",
    sentence(words, "none-for", { asked: asked(words, question) }),
    close.length ? ` ${sentence(words, "nearest")}` : "",
  ),
];

// What was typed and is not known is named, with the names that are like it.
const strange = ({ words }, { unknown, unnamed, typed }) => [
  unknown
    ? el(
        "p",
        "",
        sentence(words, "unknown-device", { name: typed.card, names: unknown.join(", ") }),
      )
    : null,
  unnamed
    ? el(
        "p",
        "",
        sentence(words, "unknown-model", { name: typed.model, names: unnamed.join(", ") }),
      )
    : null,
];

// A mixture of experts and a dense model are never each other's nearest figure without a word.
const kindWords = ({ words }, { mixture }, rows) => {
  const other = rows.filter(
    ({ model }) => mixture !== null && mixture !== undefined && mixture !== model.mixture,
  );
  return [
    ...new Set(
      other.map(({ model }) =>
        sentence(words, model.mixture ? "is-mixture" : "is-dense", { model: model.label }),
      ),
    ),
  ].join(" ");
};
const nearest = (data, question, rows) =>
  el("div", "", some(data, rows), el("p", "dm-small", kindWords(data, question, rows)));

const folded = (words, ...children) =>
  el("details", "dm-more", el("summary", "", words), ...children);

// Whether it fits, by the planner. What else the memory could do is predicted, so it is only said
// where nothing was measured.
const roomWords = (data, room, { title = true, found = null } = {}) => {
  const { kind, words, text } = verdict(room);
  const { asked: wish, contextMax, file, instead, model, shape } = room;
  const card = [wish.shared, `${wish.memory} GB`].filter(Boolean).join(" ");
  const query = `?${new URLSearchParams({ card, model: model.id })}`;
  const line = el(
    "p",
    "dm-small dm-advice__limit",
    title ? el("strong", "", `${words}: `) : null,
    text,
    instead
      ? ` (The planner does not know ${instead} by name; this is its nearest.)`
      : shape
        ? ` (It is planned with the shape of ${shape}.)`
        : "",
  );
  line.append(
    ` That is with ${number(wish.context, 0)} tokens of context and no draft`,
    contextMax && kind !== "no" ? `; the memory has room for ${number(contextMax, 0)}. ` : ". ",
  );
  const biggest = kind === "no" ? largest(file, wish) : null;
  if (kind === "no")
    line.append(
      biggest
        ? "The largest model of the planner’s list that lies on it as a whole is " +
            `${biggest.label}. `
        : "No model of the planner’s list lies on it as a whole. ",
    );
  line.append(
    link(`${data.root}will-it-fit/${query}`, "With another context, cache or draft"),
    ".",
  );
  const off = file.own_error
    ? [folded("How far off the planner has been", el("p", "dm-small", `${file.own_error}.`))]
    : [];
  const better = found
    ? []
    : alternatives(file, model, wish).listed.filter(({ ratio }) => ratio >= GAIN);
  if (!better.length) return [line, ...off];
  const items = better.map((each) =>
    el("li", "", el("strong", "", `≈ ${times(each.ratio)}`), ` ${each.range}${each.words}`),
  );
  return [
    line,
    ...off,
    folded("What else the same memory could do, predicted", el("ul", "dm-advice__links", ...items)),
  ];
};

const limit = (data, { limits, question }) => {
  const { device, bandwidth, quantisation, tps } = limits;
  if (!tps) return null;
  const name =
    question.said !== null && device.memory === null
      ? `${device.label} with ${question.said} GB`
      : device.label;
  return el(
    "p",
    "dm-small dm-advice__limit",
    sentence(data.words, "limit", {
      device: name,
      bandwidth: number(bandwidth, 0),
      model: question.bySize ? "a dense model of that size" : modelWords(question),
      quantisation,
      tps: number(tps, 0),
    }),
  );
};

// ---- the whole --------------------------------------------------------------------------------
const query = (entries) => {
  const found = new URLSearchParams(
    Object.entries(entries).filter(
      ([, value]) => value !== null && value !== undefined && value !== "",
    ),
  );
  return found.size ? `?${found}` : "";
};

// Where the answer goes on, each address with what was asked.
export const onward = (data, { question, found }) => {
  const { devices, models, typed, task } = question;
  const pages = [
    found?.device ?? devices.find((each) => each.address),
    found?.model ?? models[0],
  ].filter(Boolean);
  const words = [typed.card, typed.model].filter(Boolean).join(" ");
  return {
    explore: `${data.root}explore/${query({ words, task: task === ALL ? null : task })}`,
    pages: pages.map((each) => [data.root + each.address, each.label]),
  };
};

const more = (data, answer) => {
  const { explore, pages } = onward(data, answer);
  const line = el("p", "dm-small dm-advice__more", link(explore, "All figures in Explore"));
  for (const [address, label] of pages) line.append(" · ", link(address, `All about ${label}`));
  return line;
};

// The line to use what was found, or why there is none, and the line that measures it.
const lines = (data, { found, shown, commands }) => {
  const { words } = data;
  const { use, note, why, measure } = commands;
  const whose = note ? "use-nearest" : found ? "use" : "use-other";
  const rebuilt = shown?.tier === "published" ? sentence(words, "rebuilt") : "";
  const engine = shown?.other_engine;
  const reason = () =>
    sentence(words, `why-${why}`, {
      model: shown.model.label,
      engine,
      tps: shown.other_tps === null ? "" : rate(shown.other_tps),
    });
  return [
    use
      ? command(
          sentence(words, whose, { place: shown.device.label, model: shown.model.label, rebuilt }),
          use,
        )
      : found
        ? el("p", "dm-small", reason())
        : null,
    use && note ? el("p", "dm-small", note) : null,
    found ? credit(data, found) : null,
    command(sentence(words, "measure"), measure),
  ];
};

const unknown = (data, { question }) => {
  const hint = "Name a card or its memory, such as 12 GB, and a model or its size, such as 14B.";
  return [
    ...strange(data, question),
    el("p", "", hint),
    command(sentence(data.words, "measure"), data.measure),
  ];
};

const body = (data, answer) => {
  const { found, close, question, room } = answer;
  if (answer.nothing) return unknown(data, answer);
  const refused = !found && room && verdict(room).kind === "no";
  const others =
    close.length && (found || refused)
      ? folded("The nearest other figures", nearest(data, question, close))
      : null;
  if (refused)
    return [
      el("p", "dm-advice__figure", el("strong", "", verdict(room).words)),
      ...strange(data, question),
      ...roomWords(data, room, { title: false }),
      others,
      more(data, answer),
    ];
  const first = found ? direct(data, answer) : without(data, answer);
  const inSight = others || !close.length ? null : nearest(data, question, close);
  return [
    ...strange(data, question),
    ...first,
    inSight,
    ...lines(data, answer),
    ...(room ? roomWords(data, room, { found }) : []),
    limit(data, answer),
    others,
    more(data, answer),
  ];
};

export const draw = (data, answer) => {
  const { question, found, room } = answer;
  const refused = !answer.nothing && !found && room && verdict(room).kind === "no";
  return el(
    "section",
    `dm-advice${refused ? " dm-fit__result--no" : ""}`,
    ...(question.typed.card || question.typed.model ? [heading(data, question)] : []),
    ...body(data, answer),
  );
};
