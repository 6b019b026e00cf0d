// The form "my card, my model" and its answer on the page. The question is kept in the address.
// The data for answers are loaded with the first touch, or immediately if the address has a
// question.
import { el, remember, restore } from "./dom.js";

const FIELDS = ["card", "model", "for", "ram"];
const PAUSE_MS = 250;
const LONGEST = 120;

// ---- the answer -----------------------------------------------------------------------------
// An answer that was requested by a button, a key or an address is scrolled into view, and gets
// the focus.
const lead = (card) => {
  card.tabIndex = -1;
  card.focus({ preventScroll: true });
  card.scrollIntoView({ block: "nearest" });
};

// What was understood and assumed. A part that a field can change is a button: it leads to the
// field, where its words are selected.
const understood = (form, parts) => {
  const chips = parts.map(([text, note, name]) => {
    const words = [text, note && el("small", "", ` ${note}`)];
    if (!name) return el("span", "dm-copy", ...words);
    const chip = el("button", { className: "dm-copy", type: "button" }, ...words);
    chip.addEventListener("click", () => {
      const field = form.elements[name === "model" && !form.elements.model.value ? "card" : name];
      field.focus();
      if (field.options) return;
      const at = field.value.toLowerCase().indexOf(text.toLowerCase());
      field.setSelectionRange(Math.max(at, 0), at < 0 ? field.value.length : at + text.length);
    });
    return chip;
  });
  const group = el("div", "dm-chips dm-small", ...chips);
  group.setAttribute("role", "group");
  group.ariaLabel = "What was understood";
  return group;
};

const load = async (form) => {
  const scripts = [import("./answer.js"), import("./listed.js"), import("./answerdata.js")];
  const [answer, asked, files] = await Promise.all(scripts);
  const data = await files.load(form.dataset);
  const named = data.machines.map(({ label }) => new Option(label, label));
  form.querySelector("datalist").append(...named);
  return { answer, asked, data };
};

const attach = (form, out) => {
  let ready = null;
  let turn = 0;
  let timer = null;
  const loaded = () => (ready ??= load(form));

  const reply = async (leads) => {
    const [card, model, task, ram] = FIELDS.map((name) =>
      form.elements[name].value.slice(0, LONGEST),
    );
    if (!card.trim() && !model.trim()) {
      out.replaceChildren();
      return;
    }
    const own = ++turn;
    form.dataset.state = "asked"; // the visible answer is about the previous question
    try {
      const { answer, asked, data } = await loaded();
      const found = await answer.answerTo(data, { card, model, task, ram });
      if (turn !== own) return; // the visitor has typed more meanwhile
      const parts = understood(form, asked.partsOf(found.question, found.answer));
      out.replaceChildren(parts, answer.draw(data, found));
      form.dataset.state = "answered";
      if (leads) lead(out.lastChild);
    } catch (error) {
      out.textContent = `The answer could not be loaded (${error.message}). The map below has all figures.`;
    }
  };
  const update = (leads) => {
    clearTimeout(timer);
    remember(form, FIELDS);
    reply(leads);
  };

  form.dataset.state = "ready";
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    update(true);
  });
  form.addEventListener("change", () => update(false));
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(update, PAUSE_MS, false);
  });
  form.addEventListener("focusin", () => loaded().catch(() => {}), { once: true });
  restore(form, FIELDS);
  if (/[?&](card|model)=/.test(location.search)) reply(true);
};

document$.subscribe(() => {
  const form = document.querySelector(".dm-machine:not([data-state])");
  if (form) attach(form, document.querySelector(".dm-machine__answer"));
});
