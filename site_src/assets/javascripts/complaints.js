// What of two pasted runs and typed numbers cannot be used, a sentence each.
import { count, listed, UNKNOWN } from "./say.js";

export const plural = (value, noun) => (value === null ? UNKNOWN : count(value, noun));

const nothing = (run) =>
  !run.requests.length &&
  !run.counters &&
  !run.statistics.length &&
  run.rate === null &&
  run.stated.length === null &&
  run.stated.share === null;
export const drafted = ({ requests, counters, stated }) =>
  Boolean(counters?.drafted || stated.length) || requests.some((each) => each.accepted);

// What a text has and this page leaves out, and why.
const leftOut = (run, side) => {
  const lines = [];
  const place = `in the text ${side} speculation`;
  for (const of of new Set(run.unread.map(([, name]) => name))) {
    const own = run.unread.filter(([, name]) => name === of).map(([line]) => line);
    const which = `${plural(own.length, "line")} of ${of} (first: line ${own[0]})`;
    lines.push(`Read in part: ${which} ${place} cannot be read.`);
  }
  if (run.unused.length)
    lines.push(`Not added to the counts ${place}, which may include them: ${listed(run.unused)}.`);
  const repeats = run.requests.filter((each) => each.repeat).length;
  if (repeats)
    lines.push(
      `${plural(repeats, "request")} ${place} took the prompt from the cache and repeated an ` +
        `earlier answer: left out, because drafts from earlier text contain it.`,
    );
  return lines;
};

// One line for each thing that cannot be used.
export const complaints = (form, runs, given) => {
  const lines = [];
  for (const side of ["without", "with"]) {
    if (runs[side].refused) lines.push(`The text ${side} speculation: ${runs[side].refused}`);
    else if (!runs.swapped && form.elements[side].value.trim() && nothing(runs[side])) {
      lines.push(
        `Nothing to read in the text ${side} speculation: no line “eval time = … ms / … ` +
          `tokens”, no “timings”, no counters of drafts. Its speed can be typed above.`,
      );
    }
    lines.push(...leftOut(runs[side], side));
  }
  if (given.drafted !== null && given.accepted !== null && given.accepted > given.drafted)
    lines.push("More tokens were accepted than drafted: are the two numbers swapped?");
  if (given.tokens !== null && given.accepted !== null && given.accepted >= given.tokens)
    lines.push(
      "All written tokens count as accepted, which is impossible for the first two of an answer.",
    );
  if (form.querySelector("input:invalid"))
    lines.push("A number is outside its range and was left out.");
  if (runs.swapped)
    lines.push(
      nothing(runs.without)
        ? "This text drafted tokens: it is read as the run with speculation."
        : "Only the first text drafted tokens: the two texts are swapped.",
    );
  else if (drafted(runs.without))
    lines.push("The run without speculation drafted tokens: it was not a plain run.");
  const idle = runs.with.requests.filter((each) => each.drafted === null && each.silent).length;
  if (!form.elements.without.value.trim() && idle && idle < runs.with.requests.length)
    lines.push(
      `${idle} of ${plural(runs.with.requests.length, "request")} drafted nothing. If those ` +
        `are the run without speculation, move them to its field.`,
    );
  return lines;
};
