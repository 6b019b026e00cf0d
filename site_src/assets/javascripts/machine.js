// The form "my card, my model", its answer in place, and the chips that choose which strips are
// drawn. All of it is kept in the address. What answers and lists need is loaded with the first
// touch, or when the address already asks.
"use strict";

(() => {
  const FIELDS = ["card", "model", "for"];
  const CHIPS = ["memory", "size", "backend", "method", "tier", "aside", "by", "for"];
  const ASIDES = {
    streams: "several requests at once",
    context: "a long prompt",
    limited: "short answers",
  };
  const PAUSE_MS = 250;
  const LONGEST = 120;

  // ---- the address ----------------------------------------------------------------------------
  const valuesOf = (form) =>
    form
      ? [...form.elements]
          .filter(({ name }) => name)
          .map((field) => [field.name, field.value.slice(0, LONGEST), field.dataset.usual ?? ""])
      : [];

  const remember = ({ form, chips }) => {
    const found = new URLSearchParams(location.search);
    for (const [name, value, usual] of [...valuesOf(form), ...valuesOf(chips)]) {
      if (value && value !== usual) found.set(name, value);
      else found.delete(name);
    }
    const text = String(found);
    history.replaceState(
      history.state,
      "",
      `${location.pathname}${text ? `?${text}` : ""}${location.hash}`,
    );
    return text ? `?${text}` : "";
  };

  // Text for the fields, and choices that a list has.
  const restore = (fields) => {
    const found = new URLSearchParams(location.search);
    for (const field of fields ? [...fields.elements].filter(({ name }) => found.has(name)) : []) {
      const value = found.get(field.name).slice(0, LONGEST);
      if (!field.options || [...field.options].some((option) => option.value === value))
        field.value = value;
    }
  };
  // What a page of one device or model can be chosen by, too.
  const carried = (page) => {
    const { task, backend, method, tier, aside } = viewOf(page);
    const kept = Object.entries({
      for: task === "all" ? "" : task,
      backend,
      method,
      tier,
      aside,
    }).filter(([, value]) => value);
    return kept.length ? `?${new URLSearchParams(kept)}` : "";
  };
  const asks = (names) => names.some((name) => new URLSearchParams(location.search).has(name));

  // The links to Explore lead on with the same question.
  const carry = (explore) => {
    for (const each of document.querySelectorAll(".md-tabs a, .md-nav--primary a")) {
      each.dataset.plain ??= each.getAttribute("href");
      if (/(^|\/)explore\/$/.test(each.dataset.plain)) each.setAttribute("href", explore);
    }
  };

  const answers = async (place) => {
    const answer = await import("./answer.js");
    return { answer, data: await answer.load(place.dataset) };
  };
  const figures = async (place) => {
    const [rows, strips] = await Promise.all([import("./rows.js"), import("./strips.js")]);
    return { strips, data: await rows.load(place.dataset) };
  };

  // ---- the answer -----------------------------------------------------------------------------
  // An answer that was asked for by a button, a key or an address is brought into sight, with the
  // focus.
  const lead = (card) => {
    card.tabIndex = -1;
    card.focus({ preventScroll: true });
    card.scrollIntoView({ block: "nearest" });
  };

  const reply = async (page, leads) => {
    const { form, out } = page;
    const [card, model, task] = FIELDS.map((name) => form.elements[name].value.slice(0, LONGEST));
    if (!card.trim() && !model.trim()) {
      out.replaceChildren();
      return;
    }
    const turn = ++page.turn;
    form.dataset.state = "asked"; // what is shown still answers the question before
    try {
      const { answer, data } = await page.answers();
      const found = await answer.answerTo(data, { card, model, task });
      if (page.turn !== turn) return; // more was typed meanwhile
      out.replaceChildren(answer.draw(data, found));
      carry(answer.exploreAddress(data, found.question));
      form.dataset.state = "answered";
      if (leads) lead(out.firstChild);
    } catch (error) {
      out.textContent =
        `The answer could not be loaded (${error.message}). ` + "The list below has all figures.";
    }
  };

  // ---- the chips ------------------------------------------------------------------------------
  const viewOf = ({ form, chips, list }) => {
    const wish = Object.fromEntries(
      chips ? valuesOf(chips).map(([name, value]) => [name, value]) : [],
    );
    return {
      ...wish,
      task: form?.elements.for?.value || wish.for || "all",
      aside: wish.aside || null,
      by: wish.by || (list?.dataset.device ? "device" : "model"),
      device: list?.dataset.device ?? "",
      model: list?.dataset.model ?? "",
    };
  };

  // What the rows of the page can be chosen by.
  const offer = ({ chips, list }, { strips, data }) => {
    const own = strips.chosen(data, {
      by: "model",
      task: "all",
      aside: null,
      device: list.dataset.device,
      model: list.dataset.model,
    });
    const rows = data.rows.filter((row) =>
      own.some(({ device, model }) => device === row.device && model === row.model),
    );
    const distinct = (of) =>
      [...new Set(rows.map(of))].filter((each) => each !== null && each !== undefined);
    const { methods, tasks } = data.words;
    const options = {
      memory: distinct((row) => row.device.memory)
        .sort((a, b) => a - b)
        .map((each) => [each, `${each} GB`]),
      size: [
        ...distinct((row) => row.model.size)
          .sort((a, b) => a - b)
          .map((each) => [`size:${data.sizes[each].id}`, data.sizes[each].label]),
        ...distinct((row) => row.model)
          .sort((a, b) => (a.label < b.label ? -1 : 1))
          .map(({ id, label }) => [`model:${id}`, label]),
      ],
      backend: distinct((row) => row.backend)
        .sort()
        .map((each) => [each, each]),
      method: Object.keys(methods)
        .filter((each) => rows.some((row) => row.method === each))
        .map((each) => [each, methods[each].label]),
      tier: ["measured", "imported", "published"]
        .filter((each) => rows.some((row) => row.tier === each))
        .map((each) => [each, each]),
      aside: distinct((row) => row.aside).map((each) => [each, ASIDES[each]]),
      for: Object.keys(tasks)
        .filter((each) => rows.some((row) => row.task === each))
        .map((each) => [each, tasks[each].label]),
      by: strips.GROUPINGS.filter((each) => each !== "model").map((each) => [each, each]),
    };
    for (const field of chips.elements) {
      field.append(
        ...(options[field.name] ?? []).map(([value, label]) => new Option(label, value)),
      );
    }
  };

  const redraw = async (page) => {
    const { strips, data } = await page.ready();
    data.carried = carried(page);
    page.list.replaceChildren(
      ...page.axis.map((each) => each.cloneNode(true)),
      ...strips.draw(data, viewOf(page)),
    );
  };

  document$.subscribe(() => {
    const list = document.querySelector(".dm-ranked:not([data-state])");
    const form = document.querySelector(".dm-machine");
    const place = form ?? list;
    if (!place?.dataset.machine || place.dataset.state) return;
    const chips = list && document.querySelector(".dm-chips");
    const page = {
      form,
      place,
      list,
      chips,
      turn: 0,
      out: document.querySelector(".dm-machine__answer"),
      axis: list ? [...list.children].filter((each) => each.matches(".dm-ticks")) : [],
    };
    place.dataset.state = "ready";
    if (list) list.dataset.state = "ready";
    page.answers = () =>
      (page.answering ??= answers(place).then((found) => {
        const named = found.data.machines.map(({ label }) => new Option(label, label));
        form.querySelector("datalist").append(...named);
        return found;
      }));
    page.ready = () =>
      (page.loaded ??= figures(place).then((found) => {
        offer(page, found);
        restore(chips);
        return found;
      }));

    if (chips) {
      chips.addEventListener("submit", (event) => event.preventDefault());
      chips.addEventListener("change", () => {
        remember(page);
        redraw(page);
      });
    }
    restore(form);
    if (form) {
      let timer = null;
      const update = (leads) => {
        clearTimeout(timer);
        remember(page);
        reply(page, leads);
      };
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        update(true);
      });
      form.addEventListener("change", ({ target }) => {
        update(false);
        if (target.name === "for" && list) redraw(page);
      });
      form.addEventListener("input", () => {
        clearTimeout(timer);
        timer = setTimeout(update, PAUSE_MS, false);
      });
    }
    if (form)
      form.addEventListener("focusin", () => page.answers().catch(() => {}), { once: true });
    if (chips) {
      const figured = () => page.ready().catch(() => {});
      for (const kind of ["focusin", "pointerdown"])
        chips.addEventListener(kind, figured, { once: true });
    }
    if (form && asks(FIELDS.slice(0, 2))) reply(page, true);
    if (list && asks(CHIPS)) redraw(page);
  });
})();
