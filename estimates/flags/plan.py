"""Flags about the plan of a campaign: what is missing, how it ended, and what it measured."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources

from estimates.distributions import p_of_sign
from estimates.flags.observation import FlagEvidence, Observation, bounds, only
from estimates.repeatability import blocks_run
from estimates.running_order import disagreeing, plan_digest, running_order
from estimates.trial_times import is_timed
from schemas.submission import Submission
from schemas.vocabulary import say


def missing_trials(evidence: FlagEvidence) -> Iterator[Observation]:
    """Trials failed, were never run, or have no baseline trial, so they count for nothing."""
    submission = evidence.submission
    failed = {arm.id: say.reason(arm.reason) for arm in submission.arms if arm.outcome == "failed"}
    if failed:
        reasons = [f"{arm} ({reason})" for arm, reason in failed.items()]
        yield Observation(case="arm", arms=reasons, arm=only(failed))
    lost = [trial for trial in submission.trials if trial.outcome == "failed"]
    if lost:
        (reason, _), *_ = Counter(trial.reason for trial in lost).most_common(1)
        ran, counts = (Counter(trial.arm for trial in each) for each in (submission.trials, lost))
        yield Observation(
            case="failed",
            counts=[f"{count} of {ran[arm]} with {arm}" for arm, count in counts.items()],
            reason=say.reason(reason),
            arm=only(counts),
            prompt=lost[0].prompt,
        )
    if lacking := _lacking(submission):
        count = len(submission.suite.prompts)
        yield Observation(
            case="prompts",
            counts=[f"{len(prompts)} of {count} with {arm}" for arm, prompts in lacking.items()],
            arm=only(lacking),
            prompt=next(iter(lacking.values()))[0],
        )
    if alone := _unpaired(evidence):
        yield Observation(case="unpaired", count=sum(alone.values()), arm=only(alone))


def _lacking(submission: Submission) -> Mapping[str, list[str]]:
    """The prompts without a trial, by arm, of arms that lack at least a quarter of the prompts."""
    ran = {(trial.arm, trial.prompt) for trial in submission.trials}
    prompts = [prompt.id for prompt in submission.suite.prompts]
    least = (1 - bounds("missing-trials")["share"]) * len(prompts)
    missing = {
        arm.id: [prompt for prompt in prompts if (arm.id, prompt) not in ran]
        for arm in submission.arms
        if arm.outcome == "ok"
    }
    return {arm: each for arm, each in missing.items() if len(each) >= least}


def _unpaired(evidence: FlagEvidence) -> Mapping[str, int]:
    """The finished trials without a finished baseline trial to pair with, counted by arm."""
    compared = [arm.id for arm in evidence.submission.arms if arm.role != "baseline"]
    timed = Counter(t.arm for t in evidence.submission.trials if is_timed(t))
    used: Counter[str] = Counter()
    for pairs in evidence.pairs:
        used[pairs.arm.id] += len(pairs.trials)
    return {arm: timed[arm] - used[arm] for arm in compared if used[arm] < timed[arm]}


def one_sided_failures(evidence: FlagEvidence) -> Observation | None:
    """An arm fails on clearly more prompts than its baseline, or the reverse."""
    for arm in evidence.submission.arms:
        more: Counter[str] = Counter()
        for trial in evidence.submission.trials:
            if trial.outcome == "failed" and trial.arm == arm.baseline:
                more[trial.prompt] -= 1
            # A trial that timed out already counts in the figure, with its time limit.
            elif trial.outcome == "failed" and trial.arm == arm.id and trial.reason != "timed-out":
                more[trial.prompt] += 1
        own = sum(count > 0 for count in more.values())
        base = sum(count < 0 for count in more.values())
        if arm.baseline and p_of_sign(own, base) < bounds("one-sided-failures")["p"]:
            case, fails = ("arm", arm.id) if own > base else ("baseline", arm.baseline)
            return Observation(case=case, prompts=max(own, base), own=arm.id, arm=fails)
    return None


def stopped(evidence: FlagEvidence) -> Iterator[Observation]:
    """The campaign stopped before its plan or its intervals were complete, or it was resumed."""
    design, done = evidence.submission.design, len(evidence.submission.trials)
    if design.ended in ("interrupted", "budget-spent"):
        yield Observation(case=design.ended, done=done, planned=design.planned_trials)
    if design.resumed:
        yield Observation(case="resumed", times=design.resumed)


def small_campaign(evidence: FlagEvidence) -> Iterator[Observation]:
    """The campaign used the quick profile, or has one block, so its noise is unknown."""
    if evidence.submission.profile == "quick":
        yield Observation(case="quick")
    if all(trial.block == 0 for trial in evidence.submission.trials):
        yield Observation(case="single-block")


def unknown_suite(evidence: FlagEvidence) -> Observation | None:
    """The prompts match no released suite."""
    suite, released = evidence.submission.suite, suites().get(evidence.submission.suite.id)
    known = released is not None and suite.sha256 in released.values()
    if evidence.submission.tier != "measured" or suite.sha256 is None or known:
        return None
    return Observation(case="own" if released is None else "changed", suite=suite.id)


@cache
def suites() -> Mapping[str, Mapping[str, str]]:
    """Released suites from `schemas/suites.json`: for each name, the digest of every version."""
    text = resources.files("schemas").joinpath("suites.json").read_text("utf-8")
    known: Mapping[str, Mapping[str, str]] = json.loads(text)["suites"]
    return known


def plan_changed(evidence: FlagEvidence) -> Observation | None:
    """Trials ran in another order than planned, or arms, prompts or trials of the plan are missing.

    Imported files are exempt. A missing part is not reported if another flag shows its cause.
    """
    submission = evidence.submission
    design, arms = submission.design, submission.arms
    if submission.tier == "imported":
        return None
    if not _in_planned_order(submission):
        return Observation(case="order")
    if design.ended == "interrupted" or _lacking(submission):
        return None
    prompts = (prompt.id for prompt in submission.suite.prompts)
    if design.plan_sha256 not in (None, plan_digest((arm.id for arm in arms), prompts, design)):
        return Observation(case="other")
    missing = _missing_trials(submission)
    return Observation(case="missing", missing=missing) if missing else None


def _in_planned_order(submission: Submission) -> bool:
    """Whether the trials ran in the order that follows from seed, prompts and arms.

    Campaigns with concurrent requests, with arms that differ in GPU layers, or with several runs
    use other orders, which are not checked.
    """
    design, arms = submission.design, submission.arms
    layers = {arm.placement.target_gpu_layers_requested for arm in arms if arm.placement}
    own_order = len(layers) > 1 or any((arm.concurrency or 1) > 1 for arm in arms)
    if design.seed is None or design.resumed or own_order:
        return True
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
            return True
    return False


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
