// Sort tables by their headings and narrow them by a filter field. If nothing is found, here or in
// the search of the site, a link leads to "My machine" with the same words. Text only.
"use strict";

(() => {
  const NUMBER = /-?\d[\d,]*(\.\d+)?/;

  const value = (row, column) => {
    const cell = row.cells[column];
    const text = cell.dataset.value ?? cell.textContent.trim();
    if (!cell.classList.contains("dm-num")) return text.toLowerCase();
    const found = text.match(NUMBER);
    return found ? Number(found[0].replaceAll(",", "")) : -Infinity;
  };

  const sort = (table, column, heading) => {
    const falling = heading.ariaSort !== "descending";
    for (const other of table.tHead.rows[0].cells) other.ariaSort = "none";
    heading.ariaSort = falling ? "descending" : "ascending";
    const rows = [...table.tBodies[0].rows].map((row) => [value(row, column), row]);
    rows.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0) * (falling ? -1 : 1));
    table.tBodies[0].append(...rows.map(([, row]) => row));
  };

  // A line with a link that asks about these words.
  const ask = (words, before) => {
    const [line, link] = ["p", "a"].map((tag) => document.createElement(tag));
    const [home] = document.querySelector(".md-logo").href.split("?");
    link.href = `${home}?card=${encodeURIComponent(words.trim())}#mine`;
    link.textContent = `“${words.trim()}” as my machine: figures, fit, command`;
    line.className = "dm-question-form";
    line.append(before, link);
    return line;
  };

  // The meaning of a filter's words, including units: as in Explore.
  const read = new WeakMap(); // the searched text of a line
  const wanted = async (field) => {
    const { has, spread, terms } = await import("./terms.js");
    const asked = terms(field.value);
    const said = (row) => {
      if (!read.has(row))
        read.set(row, spread([...row.cells].map((cell) => cell.textContent).join(" ; ")));
      return read.get(row);
    };
    return (row) => asked.every((term) => has(said(row), term));
  };

  const filter = async (field) => {
    const table = document.getElementById(field.dataset.filters);
    const fits = await wanted(field);
    for (const row of table.tBodies[0].rows) row.hidden = !fits(row);
    const some = [...table.tBodies[0].rows].some((row) => !row.hidden);
    field.parentElement.parentElement.querySelector(".dm-question-form")?.remove();
    if (!some) field.parentElement.after(ask(field.value, "No line fits. "));
  };

  // Above the results of the search, a line links to an answer.
  document.addEventListener("input", ({ target }) => {
    if (!target.matches?.('[data-md-component="search-query"]')) return;
    const results = document.querySelector(".md-search-result");
    results?.querySelector(".dm-question-form")?.remove();
    if (results && target.value.trim()) results.prepend(ask(target.value, ""));
  });

  // An address may name a line of a table that is folded away.
  const unfold = () => {
    const folded = document
      .getElementById(decodeURIComponent(location.hash.slice(1)))
      ?.closest("details");
    if (!folded || folded.open) return;
    folded.open = true;
    folded.scrollIntoView();
  };

  window.addEventListener("hashchange", unfold);

  document$.subscribe(() => {
    unfold();
    for (const table of document.querySelectorAll("table.dm-sortable:not([data-ready])")) {
      table.dataset.ready = "";
      [...table.tHead.rows[0].cells].forEach((heading, column) => {
        const button = document.createElement("button");
        button.type = "button";
        button.append(...heading.childNodes);
        button.addEventListener("click", () => sort(table, column, heading));
        heading.append(button);
        heading.ariaSort = "none";
      });
    }
    for (const field of document.querySelectorAll("input[data-filters]"))
      field.addEventListener("input", () => filter(field));
  });
})();
