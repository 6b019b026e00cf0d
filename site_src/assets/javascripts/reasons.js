// Judge two runs: list the parts that cannot be used, and the reasons why speculation is as slow
// or as fast as it is. These are the reasons of pipeline/site/slower.toml that the figures show
// (`found`) or leave open (`check`).
import { drafted, isRead } from "./runs.js";
import { count } from "./say.js";

// The parts of a text that this page leaves out, and the reasons.
const leftOut = (run, side) => {
  const lines = [];
  const place = `in the text ${side} speculation`;
  for (const of of new Set(run.unread.map(([, name]) => name))) {
    const own = run.unread.filter(([, name]) => name === of).map(([line]) => line);
    const which = `${count(own.length, "line")} of ${of} (first: line ${own[0]})`;
    lines.push(`Read in part: ${which} ${place} cannot be read.`);
  }
  const repeats = run.requests.filter((each) => each.repeat).length;
  if (repeats)
    lines.push(
      `${count(repeats, "request")} ${place} took the prompt from the cache and repeated an ` +
        `earlier answer. They are left out, because drafts from earlier text contain the answer.`,
    );
  return lines;
};

// One line for each part that cannot be used.
export const complaints = (form, runs, given) => {
  const lines = [];
  for (const side of ["without", "with"]) {
    if (runs[side].refused) lines.push(`The text ${side} speculation: ${runs[side].refused}`);
    else if (!runs.swapped && form.elements[side].value.trim() && !isRead(runs[side])) {
      lines.push(
        `Nothing to read in the text ${side} speculation: no line “eval time = … ms / … ` +
          `tokens”, no “timings”, no draft counters. You can type the speed above.`,
      );
    }
    lines.push(...leftOut(runs[side], side));
  }
  if (given.drafted !== null && given.accepted !== null && given.accepted > given.drafted)
    lines.push("More tokens were accepted than drafted: are the two numbers swapped?");
  if (given.tokens !== null && given.accepted !== null && given.accepted >= given.tokens)
    lines.push("All written tokens count as accepted, but an answer's first two never can.");
  if (form.querySelector("input:invalid"))
    lines.push("A number is outside its range and was left out.");
  if (runs.swapped)
    lines.push(
      !isRead(runs.without)
        ? "The run in this text drafted tokens: it is read as the run with speculation."
        : "Only the run in the first text drafted tokens: the two texts are swapped.",
    );
  else if (drafted(runs.without))
    lines.push("The run without speculation drafted tokens: it was not a plain run.");
  return lines;
};

// Clearly or at face value: a pair of typed figures has no interval.
const faster = (f, known) =>
  f.low === null ? f.middle > known.helps_above : f.verdict === "helps";
const slower = (f, known) =>
  f.middle !== null && (f.low === null ? f.middle < known.hurts_below : f.verdict === "hurts");

export const reasons = (f, known) => {
  const bounds = known.bounds;
  const list = [];
  const found = (id, when) => when && list.push({ id, sure: true });
  const check = (id, when) =>
    when && !list.some((each) => each.id === id) && list.push({ id, sure: false });
  const drafts = Boolean(f.drafted);
  const lost = f.middle !== null && !faster(f, known);
  const alone = drafts && f.middle === null; // one log: acceptance and depth can still be checked
  found("mismatch", f.mismatch !== null);
  found("never-drafted", f.drafted === 0);
  const rarely = f.fired !== null && f.fired < bounds.rarely_fires;
  found("rarely-drafted", drafts && rarely);
  // Nothing is less than an unknown figure, which is null; and no unknown width reaches a step.
  const isLess = (layers) => f.layersWith !== null && f.layersWith < layers;
  found("layers-displaced", isLess(f.layersWithout));
  found("wide-upload", lost && isLess(f.layersAll) && f.width >= bounds.upload_step);
  found("slow-prompt", f.promptRatio !== null && f.promptRatio >= bounds.slow_prompt);
  const nothing = drafts && f.acceptance < bounds.nothing_accepted;
  found("nothing-accepted", nothing);
  const dear = drafts && lost && f.ceiling !== null && f.ceiling < 1;
  const far = dear && f.cost > bounds.far * (f.longest + 1);
  const fault = far && f.drafter === "head";
  found("build-fault", fault);
  found("cannot-win", dear && !fault);
  check("experts-in-memory", dear && !far);
  found("slow-draft", lost && f.draftShare !== null && f.draftShare > bounds.slow_draft);
  found("low-acceptance", drafts && lost && !nothing && f.needed <= 1 && f.acceptance < f.needed);
  check("low-acceptance", alone && !nothing && f.acceptance < bounds.low_acceptance);
  check("several-at-once", (lost || alone) && f.slots > 1);
  check("kernel-step", drafts && (lost || alone) && !rarely && f.width >= bounds.wide_step);
  const slow = drafts && slower(f, known);
  check("layers-displaced", slow && [f.layersWith, f.layersWithout].includes(null));
  check("slow-draft", slow && f.draftShare === null);
  found("other-texts", f.requests > 0 && f.plainRequests > 0 && !f.paired);
  found("power-limit", lost && f.drawn !== null && f.drawn >= bounds.at_limit * f.limit);
  found("noise", f.verdict === "no-clear-difference");
  const few = f.requests < bounds.few_requests || f.tokens < bounds.few_tokens;
  found("too-little", f.requests > 0 && few);
  if (drafts && f.middle !== null && faster(f, known)) list.unshift({ id: "none", sure: true });
  if (f.cost !== null && !list.length) list.push({ id: "unknown", sure: true });
  return list;
};
