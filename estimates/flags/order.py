"""Flags about trials that were not interleaved, or did not run as planned."""

from estimates.disagreements import disagreeing
from estimates.flags.catalogue import Observation
from estimates.flags.evidence import FlagEvidence
from estimates.flags.missing_parts import missing_prompts
from estimates.repeatability import blocks_run
from estimates.running_order import plan_digest, running_order
from schemas.submission import Submission
from schemas.vocabulary import RUNNERS


def not_interleaved(evidence: FlagEvidence) -> Observation | None:
    """Arms ran one after another, or in an unknown order: drift can look like a speedup."""
    design = evidence.submission.design
    if design.order in ("sequential", "unknown") and design.interleaved is None:
        return Observation(case=design.order)
    return None


def one_start(evidence: FlagEvidence) -> Observation | None:
    """Each server was started once: arms shared one, or the harness did not start the servers."""
    submission = evidence.submission
    drafting = [arm for arm in submission.arms if arm.role == "speculation" and arm.outcome == "ok"]
    engine, turns = RUNNERS.get(submission.engine.runner), submission.design.interleaved
    if drafting and turns == "prompt" and engine and engine.interleaved == "block":
        return Observation(case="one_server")
    served = submission.engine.runner == "openai" and all(arm.argv is None for arm in drafting)
    return Observation() if drafting and (submission.tier == "imported" or served) else None


def order_not_planned(evidence: FlagEvidence) -> Observation | None:
    """The trials did not run in the order that follows from seed, prompts and arms.

    Imported files are exempt. So are campaigns with concurrent requests, with arms that differ in
    GPU layers, or with several runs, because these use other orders.
    """
    submission = evidence.submission
    design, arms = submission.design, submission.arms
    layers = {arm.placement.target_gpu_layers_requested for arm in arms if arm.placement}
    own_order = len(layers) > 1 or any((arm.concurrency or 1) > 1 for arm in arms)
    if submission.tier == "imported" or design.seed is None or design.resumed or own_order:
        return None
    ran = {arm.id for arm in arms if arm.outcome == "ok"}
    trials = sorted(submission.trials, key=lambda trial: trial.order)
    actual = [(trial.block, trial.prompt, trial.arm) for trial in trials if trial.arm in ran]
    for rotated in (False, True):  # older files used the rows in rotation
        planned = running_order(
            [arm.id for arm in arms],
            [prompt.id for prompt in submission.suite.prompts],
            blocks=design.blocks,
            seed=design.seed,
            interleaved=design.interleaved or "prompt",
            repeated=disagreeing(submission.trials, design.blocks, design.repeat_beyond),
            rotated=rotated,
        )
        expected = [turn for turn in planned if turn[-1] in ran]
        if design.ended != "completed":  # in that case it is the start of the plan
            expected = expected[: len(actual)]
        if actual == expected:
            return None
    return Observation()


def plan_changed(evidence: FlagEvidence) -> Observation | None:
    """The campaign ended as planned, but arms, prompts or trials of its plan are missing.

    The flag is not raised if another flag already shows the cause.
    """
    submission = evidence.submission
    design, arms = submission.design, submission.arms
    if submission.tier == "imported" or design.ended == "interrupted":
        return None
    if missing_prompts(evidence) is not None or order_not_planned(evidence) is not None:
        return None
    prompts = (prompt.id for prompt in submission.suite.prompts)
    if design.plan_sha256 not in (None, plan_digest((arm.id for arm in arms), prompts, design)):
        return Observation(case="other")
    missing = _missing_trials(submission)
    return Observation(case="missing", missing=missing) if missing else None


def _missing_trials(submission: Submission) -> int:
    """The number of planned trials that are not in the file, not even as failed ones."""
    design = submission.design
    blocks = range(blocks_run(submission))
    once = {(block, prompt.id) for block in blocks for prompt in submission.suite.prompts}
    if design.ended == "completed":
        again = disagreeing(submission.trials, design.blocks, design.repeat_beyond)
        once |= {(design.blocks, prompt) for prompt in again}
    there = {(each.block, each.prompt, each.arm) for each in submission.trials}
    ran = [arm.id for arm in submission.arms if arm.outcome == "ok"]
    return sum((*each, arm) not in there for each in once for arm in ran)
