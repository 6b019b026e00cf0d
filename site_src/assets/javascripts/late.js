// Load late: charts and files of figures when the visitor does something, the theme's search when
// its field gets the focus. This script runs before the theme, which requests its index on every
// page.
"use strict";

(() => {
  const ACTS = ["pointermove", "pointerdown", "touchstart", "keydown", "focusin"];
  const first = (kinds) =>
    new Promise((resolve) => {
      for (const each of kinds)
        window.addEventListener(each, resolve, { once: true, passive: true, capture: true });
    });
  // With a question in the address, the visitor has already acted.
  window.visitor = {
    stirs: first([...ACTS, "scroll"]),
    acts: location.search ? Promise.resolve() : first(ACTS),
  };

  const INDEX = "search/search_index.json";
  const FIELD = '[data-md-component="search-query"]';
  const { open, send } = XMLHttpRequest.prototype;
  const late = new WeakSet();

  const focused = new Promise((resolve) => {
    document.addEventListener("focusin", ({ target }) => target.matches(FIELD) && resolve());
  });

  XMLHttpRequest.prototype.open = function (method, url, ...rest) {
    if (String(url).endsWith(INDEX)) late.add(this);
    return open.call(this, method, url, ...rest);
  };

  XMLHttpRequest.prototype.send = function (body) {
    if (!late.has(this)) return send.call(this, body);
    if (document.activeElement?.matches(FIELD)) return send.call(this, body);
    focused.then(() => send.call(this, body));
  };

  // The theme makes a nameless landmark of each button that copies a code block.
  const { createElement } = Document.prototype;
  Document.prototype.createElement = function (tag, ...rest) {
    return createElement.call(this, tag === "nav" ? "div" : tag, ...rest);
  };

  // The theme's only worker gets its first message once the index is loaded.
  const RealWorker = window.Worker;
  window.Worker = class extends EventTarget {
    constructor(...place) {
      super();
      this.place = place;
    }

    postMessage(...message) {
      if (!this.real) {
        this.real = new RealWorker(...this.place);
        this.real.addEventListener("message", ({ data }) =>
          this.dispatchEvent(new MessageEvent("message", { data })),
        );
      }
      this.real.postMessage(...message);
    }
  };

  // On file: addresses, browsers do not let a script read another file.
  if (location.protocol === "file:")
    addEventListener("DOMContentLoaded", () => {
      const advice = document.createElement("p");
      advice.textContent =
        "Opened as a file, forms and charts cannot load. Run “python3 -m http.server” in the " +
        "folder of the site, and open http://127.0.0.1:8000/.";
      document.querySelector("article")?.prepend(advice);
    });
})();
