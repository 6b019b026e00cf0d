"""Flags about arms that drafted nothing or wrote other texts than the baseline."""

from estimates.decomposition import can_draft, drafted_nothing
from estimates.flags.evidence import Evidence, only
from estimates.model import Flag
from estimates.verdicts import classify
from schemas.vocabulary import METHODS, say


def never_drafted(evidence: Evidence) -> Flag | None:
    """A speculative arm drafted not a single token: it measured the baseline again."""
    finished = [trial for trial in evidence.submission.trials if trial.outcome == "ok"]
    silent = [
        arm.id
        for arm in evidence.submission.arms
        if arm.role == "speculation" and can_draft(arm.method)
        if drafted_nothing([trial for trial in finished if trial.arm == arm.id])
    ]
    if not silent:
        return None
    return Flag(
        name="never-drafted",
        severity="serious",
        message=f"Not a token was drafted by {say.listed(silent)}; such a speedup says nothing.",
        remedy="Check that the engine's speculation is on and the vocabularies match.",
        arm=only(silent),
    )


def diverged(evidence: Evidence) -> Flag | None:
    """An output differs from the baseline's where the baseline was not undecided."""
    others = _concurrent(evidence) | {
        arm.id for arm in evidence.submission.arms if METHODS[arm.method.type].instrument
    }
    forked = [
        trial
        for trial in evidence.submission.trials
        if trial.arm not in others and classify(trial) == "diverged"
    ]
    if not forked:
        return None
    prompts = list(dict.fromkeys(trial.prompt for trial in forked))
    arms = list(dict.fromkeys(trial.arm for trial in forked))
    if evidence.submission.settings.teacher_forced:
        claim = f"Given the baseline's text, {say.listed(arms)} would have gone on differently"
    else:
        claim = f"The output of {say.listed(arms)} differs from the baseline's"
    return Flag(
        name="diverged",
        severity="serious",
        message=(
            f"{claim} on {say.count(len(prompts), 'prompt')}, and not at a near-tie: "
            "it may be another text."
        ),
        remedy="Compare the engine's version, cache types and flash attention of both arms.",
        arm=only(arms),
        prompt=prompts[0],
    )


def baseline_not_reproducible(evidence: Evidence) -> Flag | None:
    """The baseline writes another text in another block."""
    baselines = {arm.id for arm in evidence.submission.arms if arm.role == "baseline"}
    baselines -= _concurrent(evidence)
    outputs: dict[tuple[str, str], set[str]] = {}
    for trial in evidence.submission.trials:
        if trial.arm in baselines and trial.outcome == "ok" and trial.output_sha256:
            outputs.setdefault((trial.arm, trial.prompt), set()).add(trial.output_sha256)
    unstable = [key for key, seen in outputs.items() if len(seen) > 1]
    if not unstable:
        return None
    prompts = list(dict.fromkeys(prompt for _, prompt in unstable))
    return Flag(
        name="baseline-not-reproducible",
        severity="serious",
        message=(
            f"The baseline wrote different texts on {say.count(len(prompts), 'prompt')}, "
            "from block to block."
        ),
        remedy="Sample greedily with one request at a time; then exactness can be judged.",
        arm=only(arm for arm, _ in unstable),
        prompt=prompts[0],
    )


def crowd_outputs_vary(evidence: Evidence) -> Flag | None:
    """With several requests at once an output differs from the one that was written alone."""
    concurrent = _concurrent(evidence)
    forked = [
        trial
        for trial in evidence.submission.trials
        if trial.arm in concurrent and classify(trial) in ("diverged", "diverged-near-tie")
    ]
    if not forked:
        return None
    prompts = list(dict.fromkeys(trial.prompt for trial in forked))
    return Flag(
        name="crowd-outputs-vary",
        severity="note",
        message=(
            "With several requests at once the output differs on "
            f"{say.count(len(prompts), 'prompt')}: which requests share a step depends on the "
            "moment, and so does its rounding."
        ),
        remedy="Judge exactness by the arms that have one request at a time.",
        arm=only(trial.arm for trial in forked),
        prompt=prompts[0],
    )


def _concurrent(evidence: Evidence) -> set[str]:
    return {arm.id for arm in evidence.submission.arms if (arm.concurrency or 1) > 1}


def teacher_forced(evidence: Evidence) -> Flag | None:
    """The arms were fed the baseline's text."""
    if not evidence.submission.settings.teacher_forced:
        return None
    return Flag(
        name="teacher-forced",
        severity="note",
        message="Every arm was fed the baseline's text, so acceptance and speed are of that text.",
        remedy="For what the arms write by themselves, measure without --teacher-forced.",
    )
