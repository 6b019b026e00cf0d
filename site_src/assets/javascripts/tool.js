// What the tools of a page, Explore and Compare, share: their start, and figures with intervals.
import { el } from "./dom.js";

// A figure with its interval, if there is one.
export const ranged = (figure, range) =>
  range ? [figure, " ", el("span", "dm-interval", range)] : [figure];

// Begin a form with its data when the visitor acts; going back restores it. Without the data, a line
// says what does not work.
export const begin = async (form, make, failure) => {
  if (!form || form.dataset.state) return;
  form.dataset.state = "waiting";
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  await window.visitor.acts;
  try {
    const page = await make(form);
    addEventListener("popstate", () => form.isConnected && page.restore());
  } catch ({ message }) {
    form.dataset.state = "failed";
    form.before(el("p", "dm-chart__error", failure(message)));
  }
};
