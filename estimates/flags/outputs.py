"""Did the arms do what their names say, and did they write the same text?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from estimates.decomposition import can_draft, drafted_nothing
from estimates.exactness import classify
from estimates.model import Flag

if TYPE_CHECKING:
    from collections.abc import Iterator

    from estimates.flags.evidence import Evidence


def never_drafted(evidence: Evidence) -> Iterator[Flag]:
    """A speculative arm drafted not a single token: it measured the baseline again."""
    for arm in evidence.submission.arms:
        trials = [t for t in evidence.submission.trials if t.arm == arm.id and t.outcome == "ok"]
        if arm.role == "speculation" and can_draft(arm.method) and drafted_nothing(trials):
            yield Flag(
                name="never-drafted",
                message="This arm never drafted a token; its speedup says nothing.",
                remedy="Check that the engine's speculation is on and the vocabularies match.",
                arm=arm.id,
            )


def diverged(evidence: Evidence) -> Iterator[Flag]:
    """An output differs from the baseline's where the baseline was not undecided."""
    firsts: dict[str, list[str]] = {}
    for trial in evidence.submission.trials:
        if classify(trial) == "diverged":
            firsts.setdefault(trial.arm, []).append(trial.prompt)
    for arm, prompts in firsts.items():
        different = list(dict.fromkeys(prompts))
        message = f"The output differs from the baseline's on {len(different)} prompts"
        yield Flag(
            name="diverged",
            message=f"{message}, and not at a near-tie: this may be another text.",
            remedy="Compare the engine's version, cache types and flash attention of both arms.",
            arm=arm,
            prompt=different[0],
        )


def baseline_not_reproducible(evidence: Evidence) -> Iterator[Flag]:
    """The baseline writes another text in another block."""
    baselines = {arm.id for arm in evidence.submission.arms if arm.role == "baseline"}
    outputs: dict[tuple[str, str], set[str]] = {}
    for trial in evidence.submission.trials:
        if trial.arm in baselines and trial.outcome == "ok" and trial.output_sha256:
            outputs.setdefault((trial.arm, trial.prompt), set()).add(trial.output_sha256)
    for arm in sorted(baselines):
        unstable = [p for (owner, p), seen in outputs.items() if owner == arm and len(seen) > 1]
        if unstable:
            yield Flag(
                name="baseline-not-reproducible",
                message=f"The baseline wrote different texts on {len(unstable)} prompts.",
                remedy="Sample greedily with one request at a time; then exactness can be judged.",
                arm=arm,
                prompt=unstable[0],
            )
