"""How is a submission understood: in the words that its contributor would use?

Every figure is one of `summarize`; nothing is computed a second time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from estimates.repeatability import blocks_run
from estimates.summary import summarize
from estimates.understanding import ArmSaid, FlagSaid, TaskSaid, Understanding

if TYPE_CHECKING:
    from estimates.model import Estimate, Summary
    from schemas.submission import Arm, Submission

# The size classes of the map; `macros.sql` says the same, and a test compares the two.
SIZE_CLASSES = (
    (1e9, "<1B"),
    (3e9, "1\N{EN DASH}3B"),
    (8e9, "3\N{EN DASH}8B"),
    (16e9, "8\N{EN DASH}16B"),
    (40e9, "16\N{EN DASH}40B"),
)
LARGEST, UNKNOWN_SIZE = ">40B", "unknown size"
_MIB_PER_GIB = 1024


def understand(submission: Submission, summary: Summary | None = None) -> Understanding:
    """What a valid submission says; `summary` if it is at hand already."""
    summary = summary or summarize(submission)
    engine, suite = submission.engine, submission.suite
    target = submission.target
    return Understanding(
        device=device(submission),
        backend=engine.backend,
        engine=f"{engine.name} {engine.version or build_name(engine.build_number)}",
        target=f"{target.name} {target.quantisation}",
        size_class=size_class(target.parameters),
        tier=submission.tier,
        profile=submission.profile,
        measured_on=submission.measured_from[:10],
        suite=f"{suite.id} {suite.version}",
        prompts=len(suite.prompts),
        blocks=blocks_run(submission),
        trials=len(submission.trials),
        failed_trials=sum(1 for trial in submission.trials if trial.outcome == "failed"),
        arms=tuple(
            _arm(arm, submission, summary.estimates)
            for arm in submission.arms
            if arm.role != "baseline"
        ),
        flags=tuple(
            FlagSaid(
                name=flag.name,
                severity=flag.severity,
                message=flag.message,
                remedy=flag.remedy,
                arm=flag.arm,
            )
            for flag in summary.flags
        ),
        contributor=submission.contributor,
        supersedes=submission.supersedes,
    )


def device(submission: Submission) -> str:
    """`NVIDIA GeForce RTX 4060, 8 GiB`, or the processor with its threads for a CPU backend."""
    machine = submission.machine
    if submission.engine.backend == "cpu" or not machine.gpus:
        threads = f", {machine.cpu.logical_cores} threads" if machine.cpu.logical_cores else ""
        return f"{machine.cpu.name or 'unknown processor'}{threads}"
    card = machine.gpus[0]
    memory = f", {card.vram_mib / _MIB_PER_GIB:.0f} GiB" if card.vram_mib else ""
    return f"{card.name}{memory}"


def build_name(number: int | None) -> str:
    """`b9789`, for an engine that says its build and no version."""
    return f"b{number}" if number is not None else "(version unknown)"


def size_class(parameters: int | None) -> str:
    """The size class of a model with so many parameters."""
    if parameters is None:
        return UNKNOWN_SIZE
    return next((name for below, name in SIZE_CLASSES if parameters < below), LARGEST)


def _arm(arm: Arm, submission: Submission, estimates: tuple[Estimate, ...]) -> ArmSaid:
    drafts = {model.id: f"{model.name} {model.quantisation}" for model in submission.drafts}
    draft = getattr(arm.method, "draft", None)
    own = [estimate for estimate in estimates if estimate.arm == arm.id]
    return ArmSaid(
        arm=arm.id,
        role=arm.role,
        method=arm.method.type,
        said=tuple(map(_task, sorted(own, key=lambda estimate: estimate.task is not None))),
        draft=None if draft is None else drafts.get(draft, draft),
        depth=getattr(arm.method, "n_max", None),
        failure=arm.reason if arm.outcome == "failed" else None,
    )


def _task(estimate: Estimate) -> TaskSaid:
    interval = estimate.interval
    return TaskSaid(
        verdict=estimate.verdict,
        prompts=estimate.prompts,
        task=estimate.task,
        speedup=estimate.speedup,
        interval_low=None if interval is None else interval.low,
        interval_high=None if interval is None else interval.high,
        baseline_tps=estimate.baseline_tps,
    )
