// Hide the rows of the map that do not match the filters above; the choice stays in the
// address. The rows are already in the page, so nothing is loaded or drawn.
import { remember, restore } from "./dom.js";
import { count } from "./say.js";

const form = document.getElementById("dm-filter");
const map = document.getElementById("dm-map");

const names = () => [...form.querySelectorAll("select")].map(({ name }) => name);

const apply = () => {
  const chosen = [...new FormData(form)].filter(([, value]) => value);
  remember(form, names());
  let shown = 0;
  for (const group of map.querySelectorAll(".dm-group")) {
    let own = 0;
    for (const row of group.querySelectorAll("li")) {
      row.hidden = chosen.some(([name, value]) => row.dataset[name] !== value);
      own += !row.hidden;
    }
    group.hidden = own === 0;
    // After filtering, folded rows are open, so that a reader sees all matches.
    for (const fold of group.querySelectorAll("details")) fold.open = chosen.length > 0;
    shown += own;
  }
  // Headings and folds print counts of all rows.
  map.toggleAttribute("data-filtered", chosen.length > 0);
  form.querySelector("output").textContent = chosen.length ? count(shown, "pair") : "";
};

if (form && map) {
  restore(form, names());
  form.addEventListener("change", apply);
  if ([...new FormData(form).values()].some(Boolean)) {
    form.closest("details").open = true;
    apply();
  }
}
