// Make the picture of a chart interactive when the chart is near the viewport and the
// visitor does something. The library is three times as large as a page, so visitors who
// only read keep the picture.
"use strict";

(() => {
  const MARGIN = "1500px"; // drawn before it is visible, so that nothing moves under a reader
  const ERRORS_ONLY = 1;
  const SHARE_OF_LABELS = 0.4; // on a phone, labels leave room for the lines
  const LEGEND_ENTRY_PX = 180;
  const LEGEND_MARGIN_PX = 90; // room for an axis on the left and the line before a label
  const live = new Map(); // host element -> { spec, view }
  let library;

  const load = (url) =>
    (library ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = url;
      script.onload = () => resolve(window.vegaEmbed);
      script.onerror = () => reject(new Error("the chart library could not be loaded"));
      document.head.append(script);
    }));

  // The colours of the page, as a Vega configuration: a chart follows the page's scheme as
  // text does.
  const theme = (width) => {
    const style = getComputedStyle(document.body);
    const colour = (name) => style.getPropertyValue(name).trim();
    const words = { labelColor: colour("--dm-ink-soft"), titleColor: colour("--dm-ink-soft") };
    const sizes = { labelFontSize: 12, titleFontSize: 12 };
    return {
      background: "transparent",
      font: getComputedStyle(document.querySelector(".md-typeset")).fontFamily,
      view: { stroke: "transparent" },
      text: { color: colour("--dm-ink") },
      rule: { color: colour("--dm-ink") },
      style: {
        reference: { stroke: colour("--dm-ink") },
        halo: { stroke: colour("--dm-card"), strokeWidth: 4, strokeJoin: "round" },
      },
      title: { color: colour("--dm-ink") },
      axis: {
        ...words,
        ...sizes,
        titleFontWeight: "normal",
        labelLimit: Math.min(320, width * SHARE_OF_LABELS),
        gridOpacity: 0.6,
        gridColor: colour("--dm-line"),
        domainColor: colour("--dm-line"),
        tickColor: colour("--dm-line"),
      },
      header: words,
      legend: {
        ...words,
        ...sizes,
        orient: "top",
        labelLimit: Math.max(LEGEND_ENTRY_PX, width - LEGEND_MARGIN_PX),
        columns: Math.max(1, Math.floor(width / LEGEND_ENTRY_PX)),
      },
    };
  };

  const draw = async (figure) => {
    const host = figure.querySelector(".dm-chart__live");
    const known = live.get(host);
    const options = {
      ast: true,
      actions: false,
      renderer: "svg",
      logLevel: ERRORS_ONLY,
      tooltip: { theme: "custom" },
    };
    host.hidden = false;
    host.dataset.drawing = ""; // the picture stays until the chart is ready
    const spec = { ...known.spec, config: theme(host.clientWidth) };
    const result = await known.embed(host, spec, options);
    if (!host.isConnected) return void result.finalize(); // the visitor has left the page
    host.querySelector("svg").setAttribute("aria-hidden", "true"); // the table replaces it
    // In an image, no part can be selected.
    host.setAttribute("role", host.querySelector("select") ? "group" : "img");
    host.setAttribute("aria-label", figure.querySelector(".dm-chart__image img").alt);
    known.view?.finalize();
    known.view = result;
    delete host.dataset.drawing;
    figure.querySelector(".dm-chart__image").hidden = true;
    figure.dataset.state = "live";
  };

  const wake = async (figure) => {
    const host = figure.querySelector(".dm-chart__live");
    if (live.has(host)) return;
    live.set(host, {});
    try {
      const [embed, answer] = await Promise.all([
        load(figure.dataset.bundle),
        fetch(figure.dataset.spec),
      ]);
      if (!answer.ok) throw new Error(`the chart's data answered ${answer.status}`);
      Object.assign(live.get(host), { embed, spec: await answer.json() });
      await draw(figure);
    } catch (error) {
      host.hidden = true;
      figure.dataset.state = "failed";
      const note = document.createElement("p");
      note.className = "dm-chart__error";
      note.textContent =
        `This chart stays a picture: ${error.message}. ` + "The table below has its figures.";
      figure.querySelector("figcaption").before(note);
      const table = figure.querySelector("details");
      if (table) table.open = true;
    }
  };

  const near = new IntersectionObserver(
    (entries) => {
      for (const entry of entries.filter((each) => each.isIntersecting)) {
        near.unobserve(entry.target);
        wake(entry.target);
      }
    },
    { rootMargin: MARGIN },
  );

  const scheme = new MutationObserver(() => {
    for (const [host, known] of live) if (known.view) draw(host.closest("figure"));
  });

  document$.subscribe(async () => {
    await window.visitor.stirs;
    // The buttons below charts.
    if (document.querySelector("figure.dm-chart")) import("./chartfiles.js");
    for (const [host, known] of live) {
      if (!host.isConnected) {
        known.view?.finalize();
        live.delete(host);
      }
    }
    for (const figure of document.querySelectorAll("figure[data-spec]")) near.observe(figure);
    scheme.observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
  });
})();
