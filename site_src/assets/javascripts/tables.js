// Tables that are sorted by their headings and narrowed by a filter field. Text only.
"use strict";

(() => {
  const NARROW = "(max-width: 44.9375em)";
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

  const filter = (table, words) => {
    const parts = words.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of table.tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !parts.every((word) => text.includes(word));
    }
    const empty = document.querySelector(`[data-empty="${table.id}"]`);
    if (empty) empty.hidden = [...table.tBodies[0].rows].some((row) => !row.hidden);
  };

  // An address may name something that is folded away: a line of a table, an object of the format.
  const unfold = () => {
    const folded = document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest("details");
    if (!folded || folded.open) return;
    folded.open = true;
    folded.scrollIntoView();
  };

  window.addEventListener("hashchange", unfold);

  document$.subscribe(() => {
    if (matchMedia(NARROW).matches) for (const each of document.querySelectorAll(".dm-object[open]")) each.open = false;
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
    for (const field of document.querySelectorAll("input[data-filters]")) {
      const table = document.getElementById(field.dataset.filters);
      field.addEventListener("input", () => filter(table, field.value));
      const asked = new URLSearchParams(location.search).get("words"); // from a square of the map
      if (!asked || field.value) continue;
      field.value = asked.slice(0, field.maxLength > 0 ? field.maxLength : undefined);
      filter(table, field.value);
    }
  });
})();
