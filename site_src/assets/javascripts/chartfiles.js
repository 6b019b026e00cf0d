// Four buttons below each chart: save the chart as a picture, save or copy its figures, and
// link to it. The picture is the visible one: the live drawing, or the static picture in its
// place.
import { el } from "./dom.js";
import { csvCell, UNKNOWN } from "./say.js";

const SCALE = 2; // PNG pixels for each pixel of the page: sharp on paper and on dense screens
const MOST_PX = 16000; // the longest side that every browser can paint
const SHOWN_MS = 2000;
const SVG = "http://www.w3.org/2000/svg";
// The properties that style sheets set for a drawing in the page.
const LOOKS = (
  "fill fill-opacity stroke stroke-width stroke-dasharray opacity font-family font-size " +
  "font-weight text-anchor dominant-baseline display"
).split(" ");

const shown = (node) => node && node.getClientRects().length > 0;
const drawing = (figure) =>
  [...figure.querySelectorAll("svg")].find(
    (node) =>
      shown(node) &&
      !node.closest("table, .dm-chart__files, button") &&
      !node.parentElement.closest("svg"),
  );
const picture = (figure) => [...figure.querySelectorAll("img")].find(shown);
const title = (figure) => figure.querySelector(".dm-chart__title").textContent.trim();

// ---- the picture ----------------------------------------------------------------------------
const dressed = (node) => {
  const copy = node.cloneNode(true);
  const copies = [copy, ...copy.querySelectorAll("*")];
  [node, ...node.querySelectorAll("*")].forEach((each, at) => {
    const looks = getComputedStyle(each);
    const style = LOOKS.map((name) => `${name}:${looks.getPropertyValue(name)}`).join(";");
    copies[at].setAttribute("style", style);
  });
  return copy;
};

// The drawing as a separate file, on the page's background, with its title and the page's
// address.
const svgOf = async (figure) => {
  const node = drawing(figure);
  let copy;
  let size;
  if (node) {
    copy = node.closest(".dm-chart__live") ? node.cloneNode(true) : dressed(node);
    size = node.getBoundingClientRect();
  } else {
    const image = picture(figure);
    const text = await (await fetch(image.src)).text();
    copy = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    size = { width: image.naturalWidth, height: image.naturalHeight };
  }
  const [width, height] = [Math.ceil(size.width), Math.ceil(size.height)];
  copy.setAttribute("xmlns", SVG);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  if (!copy.getAttribute("viewBox")) copy.setAttribute("viewBox", `0 0 ${width} ${height}`);
  copy.removeAttribute("aria-hidden");
  const [x, y, wide, high] = copy.getAttribute("viewBox").split(/[\s,]+/);
  const ground = document.createElementNS(SVG, "rect");
  for (const [name, value] of Object.entries({
    x,
    y,
    width: wide,
    height: high,
    fill: getComputedStyle(document.body).getPropertyValue("--dm-card").trim() || "#ffffff",
  }))
    ground.setAttribute(name, value);
  const named = document.createElementNS(SVG, "title");
  named.textContent = `${title(figure)}. ${address(figure)}`;
  copy.prepend(named, ground);
  return { text: new XMLSerializer().serializeToString(copy), width, height };
};

const pngOf = async (figure) => {
  const { text, width, height } = await svgOf(figure);
  const image = new Image(); // a data address, because the page's policy allows no other
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  const scale = Math.min(SCALE, MOST_PX / height);
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
};

// ---- the figures ----------------------------------------------------------------------------
const table = (figure) => figure.querySelector("details table") ?? figure.querySelector("table");
const NUMBER = /^-?\d[\d,]*(\.\d+)?$/; // a figure is not a formula, even with a sign
const cellOf = ({ textContent }) => {
  const words = textContent.replace(/\s+/g, " ").trim();
  if (words === UNKNOWN) return "";
  return NUMBER.test(words) ? words.replaceAll(",", "") : csvCell(words);
};
const csvOf = (figure) =>
  `${[...table(figure).rows].map((row) => [...row.cells].map(cellOf).join(",")).join("\n")}\n`;

// ---- the buttons ----------------------------------------------------------------------------
const address = (figure) => `${location.origin}${location.pathname}${location.search}#${figure.id}`;

const save = (blob, name) => {
  const link = el("a", "", "");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
};

const WAYS = {
  PNG: async (figure, name) => save(await pngOf(figure), `${name}.png`),
  SVG: async (figure, name) =>
    save(new Blob([(await svgOf(figure)).text], { type: "image/svg+xml" }), `${name}.svg`),
  CSV: async (figure, name) => save(new Blob([csvOf(figure)], { type: "text/csv" }), `${name}.csv`),
};

const flash = (node, words) => {
  const before = node.dataset.words;
  node.textContent = words;
  setTimeout(() => (node.textContent = before), SHOWN_MS);
};

const dress = (figure, bar) => {
  const file = bar.querySelector("a[href$='.csv']"); // all figures; the table has a few rows
  const seen = drawing(figure) || picture(figure);
  bar.dataset.ready = "";
  bar.replaceChildren();
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", `Take along: ${title(figure)}`);
  for (const [words, make] of Object.entries(WAYS)) {
    if (words === "CSV" && file) bar.append(file);
    if (words === "CSV" ? file || !table(figure) : !seen) continue;
    const button = el("button", "", words);
    button.type = "button";
    button.dataset.words = words;
    button.setAttribute("aria-label", `${title(figure)} as ${words}`);
    button.addEventListener("click", () =>
      make(figure, figure.id).catch(() => flash(button, `${words} failed`)),
    );
    bar.append(button);
  }
  const link = el("a", "", "Link");
  link.href = `#${figure.id}`;
  link.dataset.words = "Link";
  link.setAttribute("aria-label", `Link to ${title(figure)}`);
  link.addEventListener("click", () =>
    navigator.clipboard?.writeText(address(figure)).then(
      () => flash(link, "Link copied"),
      () => {},
    ),
  );
  bar.append(link);
};

document$.subscribe(() => {
  for (const bar of document.querySelectorAll(".dm-chart__files:not([data-ready])"))
    dress(bar.closest("figure"), bar);
});
