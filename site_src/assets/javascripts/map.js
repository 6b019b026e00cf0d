// Show the map that the switch, or the query string, asks for. Each choice is a finished piece of
// the page, made at build time; without JavaScript the opening map stays.
"use strict";

(() => {
  const PARTS = ["plot", "caption", "table"];

  const chosen = (form) => {
    const data = new FormData(form);
    return { task: data.get("task"), method: data.get("method") ?? "all", tiers: data.get("tiers") ?? "all" };
  };

  const choose = (form, name, value) => {
    const option = [...form.querySelectorAll(`input[name="${name}"]`)].find((each) => each.value === value);
    if (option) option.checked = true; // a value from the address counts only if the switch has it
  };

  const show = async (figure, form) => {
    const { task, method, tiers } = chosen(form);
    figure.dataset.tiers = tiers;
    figure.dataset.chosen = `${task}--${method}`;
    const answer = await fetch(`${figure.dataset.folder}${figure.dataset.chosen}.html`);
    const text = await answer.text();
    if (!answer.ok || figure.dataset.chosen !== `${task}--${method}`) return; // a later choice came
    const piece = new DOMParser().parseFromString(text, "text/html");
    for (const part of PARTS) {
      const target = figure.querySelector(`[data-part="${part}"]`);
      target.replaceChildren(...piece.querySelector(`[data-part="${part}"]`).childNodes);
    }
    figure.dataset.shown = figure.dataset.chosen;
  };

  const remember = (form) => {
    const query = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(chosen(form))) query.set(name, value);
    history.replaceState(history.state, "", `?${query}${location.hash}`);
  };

  document$.subscribe(() => {
    const figure = document.querySelector(".dm-map-figure");
    const form = figure?.querySelector(".dm-switch");
    if (!form || !form.hidden) return;
    form.hidden = false;
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("change", () => {
      remember(form);
      show(figure, form);
    });
    const query = new URLSearchParams(location.search);
    for (const name of ["task", "method", "tiers"]) choose(form, name, query.get(name));
    const { task, method, tiers } = chosen(form);
    figure.dataset.tiers = tiers;
    if (`${task}--${method}` !== figure.dataset.opening) show(figure, form);
  });
})();
