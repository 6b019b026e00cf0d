// The advisor's form: what speedup to expect of a visitor's choices, and why.
"use strict";

import { answers, judged, key } from "./arithmetic.js";
import { UNKNOWN, count, interval, number, percent, times, withArticle } from "./say.js";

(() => {
  const FIELDS = ["device", "backend", "model", "task", "method"];
  const LONGEST = 120;

  // ---- words ----------------------------------------------------------------------------------
  const range = (low, high) => (low === null ? "" : ` ${interval(low, high)}`);
  const machines = (votes) => count(votes, "machine");
  const method = (choice) => [choice.label, choice.depth === null ? null : `depth ${choice.depth}`, choice.draft_label].filter(Boolean).join(" · ");

  const why = (known, question, found, levels) => {
    const { device, backend, model } = question;
    const { depth } = found.choice; // a draft of so many tokens is checked in a step that is one wider
    const step = device && model ? known.steps[key(device, backend, model.target, model.quantisation, depth + 1)] : undefined;
    const verification = step === undefined ? "" : `Checking ${withArticle(`${depth}-token`)} draft takes as long as generating ${number(step, 2)} tokens on this device. `;
    const task = known.tasks.find(([name]) => name === question.task)[1];
    return (
      `${verification}A round costs ${number(found.roundCost, 2)} plain tokens (${machines(found.cost.pool.votes)}: ${levels[found.cost.level]}); ` +
      `${task.toLowerCase()} yields ${number(found.tokensPerRound, 2)} tokens a round (${machines(found.gain.pool.votes)}: ${levels[found.gain.level]}). ` +
      `${number(found.tokensPerRound, 2)} ÷ ${number(found.roundCost, 2)} = ${times(found.speedup)}.`
    );
  };

  const past = ({ error: own, anyError }) => {
    const error = own ?? anyError;
    if (!error) return "How far predictions are off is not known yet: no two machines have measured the same size of model through the same backend.";
    const kind = own ? "Predictions of this kind" : "This kind could not be tested yet; predictions of all other kinds";
    const held = error.held === null ? "" : ` The forecast held in ${percent(error.held, 1)} of ${error.with_interval}.`;
    return `${kind} were off by ${percent(error.median_error, 1)} in the median, nine of ten by less than ${percent(error.high_error, 1)} (${error.predictions} predictions, each of ${machines(error.voters)} from the others).${held}`;
  };

  // The line was made with the site, but for the words TARGET and TASK.
  const command = ({ model, task }, choice) => choice.command && (model ? choice.command.replace("TARGET.gguf", model.file) : choice.command).replace(/TASK$/, task);

  // ---- page -----------------------------------------------------------------------------------
  const el = (tag, name, ...children) => {
    const node = document.createElement(tag);
    if (name) node.className = name;
    node.append(...children);
    return node;
  };

  const pill = (words, found) => {
    const name = judged(words, found);
    const { sign, prediction } = words.verdicts[name];
    return el("span", `dm-verdict dm-verdict--${name}`, `${sign} ${prediction}`);
  };

  const request = ([, , , stated]) => (stated === null ? "Its prompt time was not recorded." : `With 256 tokens of answer, prompt included: ${times(stated)}.`);

  const links = (known, found, root) => {
    const list = el("ul", "dm-advice__links");
    for (const number of found.nearest) {
      const [address, label] = known.submissions[number];
      const link = el("a", "", label);
      link.href = root + address;
      list.append(el("li", "", link));
    }
    return list;
  };

  const headline = (known, question, found, page) => {
    const card = el("div", "dm-advice");
    const figure = (words, kind, [speedup, low, high], ...rest) => el("p", "dm-advice__figure", `${words} `, el("strong", "", times(speedup)), el("span", "dm-interval", range(low, high)), low === null ? " " : ` ${kind} `, ...rest);
    const unsure = found.measured && found.measured[1] === null ? el("span", "dm-verdict", "○ too few prompts for an interval") : null;
    card.append(
      found.measured ? figure("Measured here:", "another machine", found.measured, ...(unsure ? [unsure] : [])) : figure("Expect on yours:", "forecast", [found.speedup, found.low, found.high], pill(page.words, found)),
      el("p", "dm-advice__method", `with ${method(found.choice)}`),
      el("p", "", found.measured ? `${request(found.measured)} As a prediction: ` : "", why(known, question, found, page.levels)),
      el("p", "dm-soft dm-small", past(found)),
    );
    const line = command(question, found.choice);
    if (line) card.append(el("p", "dm-small", "Measure it yourself:"), el("pre", "", el("code", "", line)));
    card.append(el("p", "dm-small", "Nearest evidence:"), links(known, found, page.root));
    return card;
  };

  const table = (found, page) => {
    const names = ["Method", "Measured here [another machine]", "Predicted speedup [forecast]", "Expectation", "Tokens per round", "R", "Median error"];
    const rows = found.map((each) => {
      const name = el("th", "", method(each.choice));
      name.scope = "row";
      return el(
        "tr",
        "",
        name,
        el("td", "dm-num", ...(each.measured ? [times(each.measured[0]), el("span", "dm-interval", range(each.measured[1], each.measured[2]))] : [UNKNOWN])),
        el("td", "dm-num", times(each.speedup), el("span", "dm-interval", range(each.low, each.high))),
        el("td", "", pill(page.words, each)),
        el("td", "dm-num", number(each.tokensPerRound, 2)),
        el("td", "dm-num", number(each.roundCost, 2)),
        el("td", "dm-num", percent(each.error && each.error.median_error)),
      );
    });
    for (const row of rows) [...row.cells].forEach((cell, column) => (cell.dataset.label = column === 3 ? "" : names[column]));
    const head = el("tr", "", ...names.map((name) => el("th", ["Method", "Expectation"].includes(name) ? "" : "dm-num", name)));
    for (const cell of head.cells) cell.scope = "col";
    const made = el("table", "dm-table", el("thead", "", head), el("tbody", "", ...rows));
    made.dataset.cards = ""; // cards on narrow screens
    const box = el("div", "dm-scroll", made);
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", "All choices");
    return box;
  };

  // Too little is known to predict from: the nearest figures, what fits and the line that measures it.
  const without = async (known, question, page) => {
    const turn = ++page.turn;
    const { answerTo, draw, load } = await import("./answer.js");
    const data = await load(page.place);
    const named = (list, id) => list.find((each) => each.id === id)?.label ?? id.replaceAll("-", " ");
    const asked = askedOf(known, question, data.sizes);
    if (question.unknown.device) asked.card = named(data.devices, question.unknown.device);
    if (question.unknown.model) asked.model = named(data.models, question.unknown.model);
    const answer = await answerTo(data, asked);
    if (turn === page.turn) page.out.replaceChildren(el("p", "dm-advice__none", el("strong", "", "No prediction. "), question.model?.mixture ? "What rounds cost a mixture of experts is not measured: they read more experts the wider a step is, and too few are known to learn from. What is known:" : "Nobody has measured this size of model through this backend together with this task and method. What is known:"), draw(data, answer));
  };

  const askedOf = (known, question, sizes) => {
    const device = known.devices.find((each) => each.id === question.device);
    const card = device?.label ?? (question.memory ? `${question.memory} GB` : "");
    return { card, model: question.model?.label ?? sizes[question.size]?.id ?? "", task: question.task };
  };

  // Whether the memory holds it: first of all where it does not, else at the end of the answer.
  const fits = async (known, question, page) => {
    const { turn } = page;
    const { fitFor } = await import("./answer.js");
    const found = await fitFor(page.place, askedOf(known, question, Object.values(page.words.sizes)));
    if (!found || turn !== page.turn) return;
    if (found.refused) page.out.prepend(found.node);
    else page.out.querySelector(".dm-advice").append(found.node);
  };

  const show = (known, question, page) => {
    const found = Object.keys(question.unknown).length ? [] : answers(known, question);
    page.turn++;
    if (!found.length) {
      without(known, question, page);
      return;
    }
    page.out.replaceChildren(headline(known, question, found[0], page), ...(found.length > 1 ? [table(found, page)] : []));
    fits(known, question, page);
  };

  const read = (known, form) => {
    const [kind, device] = form.elements.device.value.split(":");
    const model = known.models.find((each) => each.id === form.elements.model.value) ?? null;
    const chosen = kind === "device" ? known.devices.find((each) => each.id === device) : null;
    return {
      device: chosen?.id ?? null,
      memory: chosen ? chosen.memory : Number(device) || null,
      backend: form.elements.backend.value,
      model,
      size: model ? model.size : Number(form.elements.model.value),
      task: form.elements.task.value,
      method: form.elements.method.value,
      unknown: Object.fromEntries(["device", "model"].filter((name) => form.elements[name].selectedIndex < 0).map((name) => [name, form.elements[name].dataset.unknown])),
    };
  };

  // A device has its own backends. Of a card that is known by its memory alone, those that such
  // cards were measured through come first, the most used one on top, then those of other cards.
  const offerBackends = (known, form) => {
    const [kind, device] = form.elements.device.value.split(":");
    const backendsOf = (chosen) => known.devices.filter(chosen).flatMap((each) => each.backends);
    const usual = backendsOf(kind === "device" ? (each) => each.id === device : (each) => each.memory === Number(device));
    const others = kind === "device" ? [] : backendsOf((each) => each.memory !== null || device === "0").sort();
    const often = (backend) => usual.filter((each) => each === backend).length;
    const first = [...new Set(usual)].sort((a, b) => often(b) - often(a) || (a < b ? -1 : 1));
    const before = form.elements.backend.value;
    const offered = [...new Set([...first, ...others])].map((each) => new Option(each, each));
    form.elements.backend.replaceChildren(...(offered.length ? offered : [new Option("none measured yet", "")]));
    if ((first.length ? first : others).includes(before)) form.elements.backend.value = before;
  };

  // Only what is offered is chosen; a device or model that is not is named, and never replaced.
  const choose = (form, name, value) => {
    const field = form.elements[name];
    if ([...field.options].some((option) => option.value === value)) field.value = value;
    else if (value && ["device", "model"].includes(name)) {
      field.dataset.unknown = value.slice(value.indexOf(":") + 1, LONGEST);
      field.selectedIndex = -1;
    }
  };

  const wake = async (place) => {
    const form = place.querySelector("form");
    form.hidden = false;
    await window.visitor.acts;
    const replies = await Promise.all([fetch(place.dataset.knowledge), fetch(place.dataset.vocabulary)]);
    if (!replies.every((reply) => reply.ok)) return; // the answer that is in the page stays
    const [known, words] = await Promise.all(replies.map((reply) => reply.json()));
    const page = { words, turn: 0, place: place.dataset, out: place.querySelector("[data-part='answer']"), root: place.dataset.root, levels: JSON.parse(place.dataset.levels) };
    const query = new URLSearchParams(location.search);
    choose(form, "device", query.get("device"));
    offerBackends(known, form);
    for (const name of FIELDS.slice(1)) choose(form, name, query.get(name));
    const update = () => show(known, read(known, form), page);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("change", (event) => {
      if (event.target.name === "device") offerBackends(known, form);
      const chosen = new URLSearchParams(FIELDS.map((name) => [name, form.elements[name].value]));
      history.replaceState(history.state, "", `?${chosen}${location.hash}`);
      update();
    });
    update();
    place.dataset.state = "ready";
  };

  document$.subscribe(() => {
    const place = document.querySelector(".dm-advisor:not([data-state])");
    if (!place) return;
    place.dataset.state = "waking";
    wake(place);
  });
})();
