// Compute an arm's whole request for a visitor's own lengths, below the tables
// of a submission.
import { breakEvenTokens, wholeRequest } from "./arithmetic.js";
import { about, times } from "./say.js";

const say = (costs, prompt, answer) => {
  const ratio = times(wholeRequest(costs, prompt, answer));
  const from = breakEvenTokens(costs, prompt);
  const pays =
    from === null
      ? "no answer is long enough to save time"
      : from > 1
        ? `it saves time from about ${about(from)} tokens of answer on`
        : "it saves time at any length";
  return `${ratio} the speed of the plain model; with such a prompt ${pays}.`;
};

document$.subscribe(() => {
  for (const form of document.querySelectorAll(".dm-request__form[hidden]")) {
    const costs = JSON.parse(form.dataset.costs);
    const show = () => {
      const { prompt, answer } = form.elements;
      const valid =
        prompt.checkValidity() && answer.checkValidity() && prompt.value && answer.value;
      form.querySelector("output").textContent = valid
        ? say(costs, Number(prompt.value), Number(answer.value))
        : "Give whole numbers of tokens.";
    };
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", show);
    form.hidden = false;
    show();
  }
});
