"""Flags about campaigns that are incomplete, or in which drift could pass for a speedup."""

from collections import Counter

from estimates.flags.evidence import Evidence, only
from estimates.model import Flag
from estimates.pairing import is_timed
from estimates.running_order import plan_digest, running_order
from schemas.submission import Submission
from schemas.vocabulary import say


def failed_arm(evidence: Evidence) -> Flag | None:
    """An arm could not run at all."""
    failed = [arm for arm in evidence.submission.arms if arm.outcome == "failed"]
    if not failed:
        return None
    reasons = [f"{arm.id} ({_words(arm.reason)})" for arm in failed]
    return Flag(
        name="failed-arm",
        severity="caution",
        message=f"Did not run: {say.listed(reasons)}.",
        remedy="The failure is a result too; `python -m harness doctor` shows what can be changed.",
        arm=only(arm.id for arm in failed),
    )


def failed_trials(evidence: Evidence) -> Flag | None:
    """Some generations failed."""
    trials = evidence.submission.trials
    failed = [trial for trial in trials if trial.outcome == "failed"]
    if not failed:
        return None
    (reason, _), *_ = Counter(trial.reason for trial in failed).most_common(1)
    counts = Counter(trial.arm for trial in failed)
    by_arm = [
        f"{count} of {sum(1 for trial in trials if trial.arm == arm)} with {arm}"
        for arm, count in counts.items()
    ]
    return Flag(
        name="failed-trials",
        severity="caution",
        message=f"Trials failed: {say.listed(by_arm)}; mostly: {_words(reason)}.",
        remedy="Only prompts that finished are compared; resolve the cause and repeat.",
        arm=only(counts),
        prompt=failed[0].prompt,
    )


def unpaired_trials(evidence: Evidence) -> Flag | None:
    """Finished trials have no partner in the baseline and were counted out."""
    compared = [arm.id for arm in evidence.submission.arms if arm.role != "baseline"]
    timed = Counter(t.arm for t in evidence.submission.trials if is_timed(t))
    used: Counter[str] = Counter()
    for pairs in evidence.pairs:
        used[pairs.arm.id] += len(pairs.trials)
    lost = {arm: timed[arm] - used[arm] for arm in compared if used[arm] < timed[arm]}
    if not lost:
        return None
    count = sum(lost.values())
    return Flag(
        name="unpaired-trials",
        severity="note",
        message=f"Trials without a finished baseline trial in their block: {count}, not counted.",
        remedy="Resume the campaign (harness run --resume) to complete the blocks.",
        arm=only(lost),
    )


# Below so much of the suite an arm's figure is about prompts that somebody or something chose.
LEAST_SHARE_OF_PROMPTS = 0.75


def missing_prompts(evidence: Evidence) -> Flag | None:
    """An arm that ran has no trial, not even a failed one, on a quarter of the prompts."""
    submission = evidence.submission
    ran = {(trial.arm, trial.prompt) for trial in submission.trials}
    prompts = [prompt.id for prompt in submission.suite.prompts]
    lacking: dict[str, list[str]] = {}
    for arm in submission.arms:
        missing = [prompt for prompt in prompts if (arm.id, prompt) not in ran]
        if arm.outcome == "ok" and len(prompts) - len(missing) <= LEAST_SHARE_OF_PROMPTS * len(
            prompts
        ):
            lacking[arm.id] = missing
    if not lacking:
        return None
    counts = [f"{len(missing)} of {len(prompts)} with {arm}" for arm, missing in lacking.items()]
    return Flag(
        name="missing-prompts",
        severity="serious",
        message=f"Prompts were never run: {say.listed(counts)}.",
        remedy="Run every arm on every prompt; a chosen part of them says little about the rest.",
        arm=only(lacking),
        prompt=next(iter(lacking.values()))[0],
    )


def interrupted(evidence: Evidence) -> Flag | None:
    """The campaign was stopped before its plan was done."""
    design = evidence.submission.design
    if design.ended == "interrupted":
        done = len(evidence.submission.trials)
        return Flag(
            name="interrupted",
            severity="caution",
            message=f"Stopped after {done} of {design.planned_trials} planned trials.",
            remedy="Continue it with harness run --resume.",
        )
    return None


def budget_spent(evidence: Evidence) -> Flag | None:
    """The time budget ended the campaign before its interval was narrow enough."""
    if evidence.submission.design.ended == "budget-spent":
        return Flag(
            name="budget-spent",
            severity="note",
            message="The time budget was spent before the interval was as narrow as wanted.",
            remedy="Give it more time (--budget).",
        )
    return None


def resumed(evidence: Evidence) -> Flag | None:
    """The campaign is put together from several runs."""
    times = evidence.submission.design.resumed or 0
    if times:
        return Flag(
            name="resumed",
            severity="note",
            message=f"The campaign was interrupted and resumed {times} times.",
            remedy="Compare the blocks before and after; a run in one piece avoids the doubt.",
        )
    return None


def quick(evidence: Evidence) -> Flag | None:
    """A quick campaign: fewer prompts and shorter outputs."""
    if evidence.submission.profile == "quick":
        return Flag(
            name="quick",
            severity="note",
            message="A quick campaign: few prompts and short outputs, so the intervals are wide.",
            remedy="Run it without --quick for a result to build on.",
        )
    return None


def single_block(evidence: Evidence) -> Flag | None:
    """Nothing was repeated, so that noise between blocks cannot be seen."""
    if max((trial.block for trial in evidence.submission.trials), default=0) == 0:
        return Flag(
            name="single-block",
            severity="caution",
            message="Every trial ran once; noise between blocks cannot be seen.",
            remedy="Measure at least three blocks (--blocks 3).",
        )
    return None


def not_interleaved(evidence: Evidence) -> Flag | None:
    """Arms ran one after another, or in an unknown order: drift can pass for a speedup."""
    design = evidence.submission.design
    order = design.order
    if order in ("sequential", "unknown") and design.interleaved is None:
        how = "one after another" if order == "sequential" else "in an unknown order"
        return Flag(
            name="not-interleaved",
            severity="serious",
            message=f"The arms ran {how}, so a drifting machine can look like a speedup.",
            remedy="Measure with interleaved blocks (the harness does so by default).",
        )
    return None


def order_not_planned(evidence: Evidence) -> Flag | None:
    """The trials did not run in the order that seed, prompts and arms give: something was left out.

    Campaigns with concurrent requests, with arms that move layers, or in several runs have orders
    of their own.
    """
    submission = evidence.submission
    design, arms = submission.design, submission.arms
    layers = {arm.placement.target_gpu_layers_requested for arm in arms if arm.placement}
    own_order = len(layers) > 1 or any((arm.concurrency or 1) > 1 for arm in arms)
    if submission.tier == "imported" or design.seed is None or design.resumed or own_order:
        return None
    ran = {arm.id for arm in arms if arm.outcome == "ok"}
    trials = sorted(submission.trials, key=lambda trial: trial.order)
    found = [(each.block, each.prompt, each.arm) for each in trials if each.arm in ran]
    for by_turns in (False, True):  # files of before took their rows by turns
        planned = running_order(
            [arm.id for arm in arms],
            [prompt.id for prompt in submission.suite.prompts],
            blocks=design.blocks,
            seed=design.seed,
            interleaved=design.interleaved or "prompt",
            by_turns=by_turns,
        )
        expected = [each for each in planned if each[-1] in ran]
        if design.ended != "completed":  # then it is the start of the plan
            expected = expected[: len(found)]
        if found == expected:
            return None
    return Flag(
        name="order-not-planned",
        severity="caution",
        message="The trials ran in another order than the seed gives for these prompts and arms.",
        remedy="Send the file as it was written: no prompt, arm or trial is taken out or moved.",
    )


def plan_changed(evidence: Evidence) -> Flag | None:
    """Arms, prompts or trials of the plan are not in the file, though the campaign came to its end.

    Not repeated where another flag shows it.
    """
    submission = evidence.submission
    design, arms = submission.design, submission.arms
    prompts = [prompt.id for prompt in submission.suite.prompts]
    if submission.tier == "imported" or design.ended == "interrupted":
        return None
    if missing_prompts(evidence) is not None or order_not_planned(evidence) is not None:
        return None
    digest = plan_digest((arm.id for arm in arms), prompts, design)
    is_other = design.plan_sha256 not in (None, digest)
    missing = 0 if is_other else _missing_trials(submission)
    if not is_other and not missing:
        return None
    what = "the arms, prompts, blocks or seed of the plan are not those of the file"
    counted = f"trials that the plan has in the blocks that were run are not in the file: {missing}"
    return Flag(
        name="plan-changed",
        severity="caution",
        message=f"The plan was changed: {what if is_other else counted}.",
        remedy="Send the file as it was written: no prompt, arm or trial is taken out.",
    )


def _missing_trials(submission: Submission) -> int:
    """Of arms that ran, how many trials are not there, not even as failed ones."""
    ran = [arm.id for arm in submission.arms if arm.outcome == "ok"]
    blocks = 1 + max((trial.block for trial in submission.trials), default=0)
    there = {(each.block, each.prompt, each.arm) for each in submission.trials}
    found = sum(1 for _, _, arm in there if arm in ran)
    return blocks * len(submission.suite.prompts) * len(ran) - found


def _words(reason: str | None) -> str:
    return (reason or "other").replace("-", " ")
