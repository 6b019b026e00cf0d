// Why a run with speculation is as slow or as fast as it is: the reasons of
// pipeline/site/slower.toml that its figures show (`found`) or leave open (`check`).

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
  const alone = drafts && f.middle === null; // one log: its acceptance and its depth can be checked
  found("mismatch", f.mismatch !== null);
  found("never-drafted", f.drafted === 0);
  found("rarely-drafted", drafts && f.fired !== null && f.fired < bounds.rarely_fires);
  found(
    "layers-displaced",
    f.layersWith !== null && f.layersWithout !== null && f.layersWith < f.layersWithout,
  );
  found(
    "wide-upload",
    lost &&
      f.layersAll !== null &&
      f.layersWith < f.layersAll &&
      f.longest !== null &&
      f.longest + 1 >= bounds.upload_step,
  );
  found("half-seconds", f.waits);
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
  found(
    "low-acceptance",
    drafts && lost && !nothing && f.needed !== null && f.needed <= 1 && f.acceptance < f.needed,
  );
  check("low-acceptance", alone && !nothing && f.acceptance < bounds.low_acceptance);
  check("several-at-once", (lost || alone) && f.slots > 1);
  check(
    "kernel-step",
    drafts &&
      (lost || alone) &&
      !(f.fired < bounds.rarely_fires && f.fired !== null) &&
      f.longest !== null &&
      f.longest + 1 >= bounds.wide_step,
  );
  check(
    "layers-displaced",
    drafts && slower(f, known) && (f.layersWith === null || f.layersWithout === null),
  );
  check("slow-draft", drafts && slower(f, known) && f.draftShare === null);
  found("other-texts", f.requests > 0 && f.plainRequests > 0 && !f.paired);
  found(
    "power-limit",
    lost && f.power !== null && f.power.drawn >= bounds.at_limit * f.power.limit,
  );
  found("noise", f.verdict === "no-clear-difference");
  found(
    "too-little",
    f.requests > 0 && (f.requests < bounds.few_requests || f.tokens < bounds.few_tokens),
  );
  if (drafts && f.middle !== null && faster(f, known)) list.unshift({ id: "none", sure: true });
  if (f.cost !== null && !list.length) list.push({ id: "unknown", sure: true });
  return list;
};
