// Redraw the drawing of pipeline/site/pages/how_it_works.py for other settings.
import { ceiling, roundCost, speedup, tokensPerRound } from "./arithmetic.js";
import { count, number, times } from "./say.js";

const WIDTH = 600;
const HEIGHT = 260;

const draw = (figure, settings) => {
  const { top, deepest } = figure.dataset;
  const x = (depth) => (depth / deepest) * WIDTH;
  const y = (value) => HEIGHT - (value / top) * HEIGHT;
  const depths = [...Array(Number(deepest) + 1).keys()];
  const path = (height) =>
    `M${depths.map((depth) => `${x(depth)},${y(height(settings, depth))}`).join("L")}`;
  figure.querySelector(".dm-whatif__curve").setAttribute("d", path(speedup));
  figure.querySelector(".dm-whatif__ceiling").setAttribute("d", path(ceiling));
  const dot = figure.querySelector(".dm-whatif__dot");
  dot.setAttribute("cx", x(settings.depth));
  // A dot above the drawing is placed at its upper edge.
  dot.setAttribute("cy", Math.max(0, y(speedup(settings, settings.depth))));
  for (const [depth, row] of [...figure.querySelectorAll("tbody tr")].entries()) {
    for (const [at, height] of [speedup, ceiling].entries())
      row.cells[at + 1].textContent = number(height(settings, depth), 2);
  }
  // R > depth + 1 at one depth implies the same at every depth: both grow
  // linearly from 1.
  const hopeless = ceiling(settings, 1) < 1;
  figure.querySelector(".dm-whatif__hopeless").setAttribute("width", hopeless ? WIDTH : 0);
  return hopeless;
};

const say = (settings, hopeless, deepest) => {
  const depth = settings.depth;
  const depths = [...Array(deepest).keys()].map((each) => each + 1);
  const best = depths.reduce((a, b) => (speedup(settings, b) > speedup(settings, a) ? b : a));
  const now =
    `A round of ${count(depth, "drafted token")} yields ` +
    `${number(tokensPerRound(settings.acceptance, depth), 2)} tokens and costs ` +
    `${number(roundCost(settings, depth), 2)} plain tokens, so the speedup is ` +
    `${times(speedup(settings, depth))}.`;
  if (hopeless)
    return (
      `${now} A round costs more than even a perfect draft yields: no acceptance can ` +
      `win, at any depth.`
    );
  const most = speedup(settings, best);
  return most > 1
    ? `${now} The best depth is ${best}, with ${times(most)}.`
    : `${now} No depth wins at this acceptance; a better draft could.`;
};

document$.subscribe(() => {
  const figure = document.querySelector(".dm-whatif-figure");
  const form = figure?.querySelector("form");
  if (!form || !form.hidden) return;
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    const settings = {};
    for (const field of form.querySelectorAll("input")) {
      settings[field.name] = Number(field.value);
      field.parentElement.querySelector(".dm-whatif__value").textContent = field.value;
    }
    const hopeless = draw(figure, settings);
    figure.querySelector("figcaption").textContent = say(
      settings,
      hopeless,
      Number(figure.dataset.deepest),
    );
  });
});
