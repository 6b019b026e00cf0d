// Four ways below each chart: save it as a picture in two formats, save its figures, and link
// to it. The picture is the visible one: the live drawing, or the static picture in its
// place.
import { el } from "./dom.js";

const SCALE = 2; // PNG pixels for each pixel of the page: sharp on paper and on dense screens
const MOST_PX = 16000; // the longest side that every browser can paint
const SHOWN_MS = 2000;
const SVG = "http://www.w3.org/2000/svg";
const shown = (node) => node && node.getClientRects().length > 0;
const drawing = (figure) => [...figure.querySelectorAll(".dm-chart__live svg")].find(shown);
const picture = (figure) => [...figure.querySelectorAll("img")].find(shown);
const title = (figure) => figure.querySelector(".dm-chart__title").textContent.trim();

// ---- the picture ----------------------------------------------------------------------------
// The drawing as a separate file, on the page's background, with its title and the page's
// address.
const svgOf = async (figure) => {
  const node = drawing(figure);
  let copy;
  let size;
  if (node) {
    copy = node.cloneNode(true);
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
};

const flash = (node, words) => {
  const before = node.dataset.words;
  node.textContent = words;
  setTimeout(() => (node.textContent = before), SHOWN_MS);
};

const dress = (figure, bar) => {
  const figures = bar.querySelector("a[href$='.csv']");
  bar.dataset.ready = "";
  bar.replaceChildren();
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", `Take along: ${title(figure)}`);
  for (const [words, make] of Object.entries(WAYS)) {
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
  bar.append(figures, link);
};

document$.subscribe(() => {
  for (const bar of document.querySelectorAll(".dm-chart__files:not([data-ready])"))
    dress(bar.closest("figure"), bar);
});
