// Show the map that the switches, or the query string, ask for. Each choice is a finished piece of
// the page, made at build time; without JavaScript the opening map stays.
"use strict";

(() => {
  const PARTS = ["plot", "caption", "table"];
  const PIECE = ["task", "method", "shown"]; // what names a piece; tiers and devices only hide
  const DEFAULTS = { task: "all", method: "all", shown: "best", tiers: "all", devices: "" };

  const chosen = (form) => ({ ...DEFAULTS, ...Object.fromEntries(new FormData(form)) });
  const name = (choice) => PIECE.map((each) => choice[each]).join("--");

  const choose = (form, field, value) => {
    if (field === "devices") form.elements.devices.value = (value ?? "").slice(0, 80);
    const option = [...form.querySelectorAll(`input[type="radio"][name="${field}"]`)].find((each) => each.value === value);
    if (option) option.checked = true; // a value from the address counts only if the switch has it
  };

  // Words and numbers apart, but a memory size in one piece: "RTX4060 8 GB" is rtx 4060 8gb.
  const tokens = (text) => text.toLowerCase().replace(/(\d+)\s*gi?b\b/g, " $1gb ").match(/\d+gb|\d+|[^\s\d·]+/g) ?? [];
  const fits = (asked, text) => {
    const own = tokens(text);
    return asked.every((word) => own.some((each) => each.startsWith(word)));
  };

  // A filter unfolds what it finds, and folds it again when it is taken away.
  const narrow = (figure, words) => {
    const asked = tokens(words);
    let left = 0;
    for (const band of figure.querySelectorAll(".dm-band")) {
      let own = 0;
      for (const row of band.querySelectorAll("tbody tr")) {
        row.hidden = !fits(asked, row.cells[0].textContent);
        if (!row.hidden) own += 1;
      }
      band.dataset.folded ??= band.open ? "" : "folded";
      band.open = asked.length ? own > 0 : !band.dataset.folded;
      band.hidden = own === 0;
      left += own;
    }
    figure.querySelector('[data-part="none"]').hidden = left > 0;
  };

  const show = async (figure, form) => {
    const choice = chosen(form);
    figure.dataset.tiers = choice.tiers;
    figure.dataset.chosen = name(choice);
    if (figure.dataset.chosen !== (figure.dataset.shown ?? figure.dataset.opening)) {
      const answer = await fetch(`${figure.dataset.folder}${name(choice)}.html`);
      const text = await answer.text();
      if (!answer.ok || figure.dataset.chosen !== name(choice)) return; // a later choice came
      const piece = new DOMParser().parseFromString(text, "text/html");
      for (const part of PARTS) {
        const target = figure.querySelector(`[data-part="${part}"]`);
        target.replaceChildren(...piece.querySelector(`[data-part="${part}"]`).childNodes);
      }
      figure.dataset.shown = name(choice);
    }
    if (choice.devices || figure.querySelector(".dm-band[data-folded]")) narrow(figure, choice.devices);
  };

  const remember = (form) => {
    const query = new URLSearchParams(location.search);
    for (const [field, value] of Object.entries(chosen(form))) {
      if (value === "") query.delete(field);
      else query.set(field, value);
    }
    history.replaceState(history.state, "", `?${query}${location.hash}`);
  };

  document$.subscribe(() => {
    const figure = document.querySelector(".dm-map-figure");
    const form = figure?.querySelector(".dm-switch");
    if (!form || !form.hidden) return;
    form.hidden = false;
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", () => {
      remember(form);
      show(figure, form);
    });
    const query = new URLSearchParams(location.search);
    for (const field of Object.keys(DEFAULTS)) choose(form, field, query.get(field));
    show(figure, form);
  });
})();
