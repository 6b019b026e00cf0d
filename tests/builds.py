"""Submissions from one machine over several engine builds; the third build is slower.

In the first one, one arm cannot run and a trial of another arm does not end.
"""

from dataclasses import replace

from msgspec import structs

from schemas.submission import Arm, Submission, Trial
from tests.samples import SampleCosts, sample

# A depth, a card and a size of model of their own: nothing else in a corpus is compared with these.
# Articles about the card are among the published figures.
DEPTH = 8
FIRST = 7000
STEADY = SampleCosts(step_ms=15.0, extra_width_ms=1.0)
SLOWER = SampleCosts(step_ms=15.0, extra_width_ms=4.0)


def over_builds() -> tuple[Submission, ...]:
    """The same setting under three builds, two days apart; the last has costlier wide steps."""
    return tuple(
        _under(number, day, costs)
        for number, day, costs in (
            (FIRST, "2026-11-16", STEADY),
            (7100, "2026-11-18", STEADY),
            (7200, "2026-11-20", SLOWER),
        )
    )


def _under(build: int, day: str, costs: SampleCosts) -> Submission:
    one = sample(
        seed=build, gpu="NVIDIA GeForce RTX 3090", vram_mib=24576, parameters=32_000_000_000,
        costs=costs, day=day, contributor="cleo", prompts_per_task=2, blocks=4,
    )  # fmt: skip
    arms = tuple(filter(None, (_deep(arm, runs=build > FIRST) for arm in one.arms)))
    able = {arm.id for arm in arms if arm.outcome == "ok"}
    trials = [trial for trial in one.trials if trial.arm in able]
    if build == FIRST:
        trials[-1] = _unended(trials[-1])
    return replace(
        one,
        engine=replace(one.engine, version=f"b{build}", build_number=build),
        arms=arms,
        trials=tuple(replace(trial, order=order) for order, trial in enumerate(trials)),
        warmups=tuple(item for item in one.warmups or () if item.arm in able),
        design=replace(one.design, planned_trials=len(trials)),
    )


def _deep(arm: Arm, *, runs: bool) -> Arm | None:
    """The baseline, the draft model at `DEPTH`, and an arm only in the build that cannot run it."""
    match arm.method.type:
        case "none":
            return arm
        case "draft-model":
            return replace(arm, method=structs.replace(arm.method, n_max=DEPTH))
        case "prompt-lookup" if not runs:
            return replace(arm, outcome="failed", reason="crashed", load_s=None)
        case _:
            return None


def _unended(trial: Trial) -> Trial:
    return Trial(
        arm=trial.arm, prompt=trial.prompt, block=trial.block, order=trial.order,
        outcome="failed", reason="timed-out",
    )  # fmt: skip
