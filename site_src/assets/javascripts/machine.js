// "My machine" on the home page: what was typed, kept in the address and answered in place. All that
// answers need is loaded with the first touch, or when the address already asks.
"use strict";

(() => {
  const FIELDS = ["card", "model", "for"];
  const PAUSE_MS = 250;
  const LONGEST = 120;

  const asked = (form) => {
    const [card, model, task] = FIELDS.map((name) => form.elements[name].value.slice(0, LONGEST));
    return { card, model, task };
  };

  const remember = (form) => {
    const found = new URLSearchParams(location.search);
    for (const name of FIELDS) {
      const { value } = form.elements[name];
      if (value && value !== form.elements[name].dataset.usual) found.set(name, value);
      else found.delete(name);
    }
    const text = String(found);
    history.replaceState(history.state, "", `${location.pathname}${text ? `?${text}` : ""}${location.hash}`);
  };

  // From the address: text for the fields, and a task that the list has.
  const restore = (form) => {
    const found = new URLSearchParams(location.search);
    for (const name of FIELDS.slice(0, 2)) form.elements[name].value = (found.get(name) ?? "").slice(0, LONGEST);
    const task = form.elements.for;
    if ([...task.options].some((option) => option.value === found.get("for"))) task.value = found.get("for");
    return FIELDS.some((name) => found.has(name));
  };

  const modules = {};
  const load = async (form) => {
    modules.answer ??= import("./answer.js");
    const answer = await modules.answer;
    const data = await answer.load(form.dataset);
    const list = form.querySelector("datalist");
    if (!list.options.length) list.append(...data.devices.map((device) => new Option(device.label, device.label)));
    return { answer, data };
  };

  // The links to Explore lead on with the same question.
  const carry = (explore) => {
    for (const each of document.querySelectorAll(".md-tabs a, .md-nav--primary a")) {
      each.dataset.plain ??= each.getAttribute("href");
      if (/(^|\/)explore\/$/.test(each.dataset.plain)) each.setAttribute("href", explore);
    }
  };

  // An answer that was asked for by a button, a key or an address is brought into sight, with the focus.
  const lead = (card) => {
    card.tabIndex = -1;
    card.focus({ preventScroll: true });
    card.scrollIntoView({ block: "start" });
  };

  const show = async (form, out, leads = false) => {
    const question = asked(form);
    if (!question.card.trim() && !question.model.trim()) {
      out.replaceChildren();
      return;
    }
    const turn = (form.dataset.turn = String(Number(form.dataset.turn ?? 0) + 1));
    form.dataset.state = "asked"; // what is shown still answers the question before
    try {
      const { answer, data } = await load(form);
      const found = await answer.answerTo(data, question);
      if (form.dataset.turn !== turn) return; // more was typed meanwhile
      out.replaceChildren(answer.draw(data, found));
      carry(answer.onward(data, found).explore);
      form.dataset.state = "answered";
      if (leads) lead(out.firstChild);
    } catch (error) {
      out.textContent = `The answer could not be loaded (${error.message}). The pages of the devices have all figures.`;
    }
  };

  document$.subscribe(() => {
    const form = document.querySelector(".dm-machine:not([data-state])");
    if (!form) return;
    form.dataset.state = "ready";
    const out = document.querySelector(".dm-machine__answer");
    let timer = null;
    const update = (leads) => {
      clearTimeout(timer);
      remember(form);
      show(form, out, leads);
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      update(true);
    });
    form.addEventListener("change", () => update(false));
    form.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(update, PAUSE_MS, false);
    });
    form.addEventListener("focusin", () => load(form).catch(() => {}), { once: true });
    if (restore(form)) show(form, out, true);
  });
})();
