"""Turn a session's return values into journal entries ("facts"). Pure functions."""

from collections.abc import Iterator
from dataclasses import replace

from harness.campaign.model import ArmPlan, PlannedTrial, SuitePrompt
from harness.run import journal
from harness.run.record import failed_trial, ms, trial_of
from harness.runners.base import Failure, Generation, PreparedArm
from schemas.submission import Arm, Prompt, Warmup


def of_arm(arm: ArmPlan, prepared: PreparedArm | Failure) -> Iterator[journal.Fact]:
    """Yield the journal entries for an arm that failed to load, or was loaded and warmed up."""
    recorded = Arm(
        id=arm.id,
        role=arm.role,
        method=arm.method,
        baseline=arm.baseline,
        concurrency=None if arm.concurrency == 1 else arm.concurrency,
        outcome="ok",
    )
    if isinstance(prepared, Failure):
        yield journal.ArmFact(arm=replace(recorded, outcome="failed", reason=prepared.reason))
        return
    loaded = replace(
        recorded,
        load_s=ms(prepared.load_s),
        placement=prepared.placement,
        peak_memory=prepared.peak_memory,
        argv=prepared.argv,
    )
    yield journal.ArmFact(arm=loaded)
    answer, decode_ms = prepared.warm_up, round(prepared.warm_up.decode_ms, 3)
    warmup = Warmup(arm=arm.id, output_tokens=answer.output_tokens, decode_ms=decode_ms)
    yield journal.WarmupFact(warmup=warmup)


def of_trial(
    answer: Generation | Failure,
    item: PlannedTrial,
    asked: SuitePrompt,
    order: int,
    started_ms: float | None = None,
) -> journal.TrialFact:
    """Return the journal entry for a trial.

    The answer's text is kept in the first block, or if there are no token ids.
    """
    prompt = Prompt(id=asked.id, task=asked.task)
    if isinstance(answer, Failure):
        return journal.TrialFact(trial=failed_trial(item, answer, order=order), prompt=prompt)
    return journal.TrialFact(
        trial=trial_of(answer, item, order=order, started_ms=started_ms, prompt=asked),
        prompt=replace(prompt, tokens=answer.prompt_tokens, rendered_sha256=answer.prompt_sha256),
        tokens=answer.tokens,
        margins=answer.margins,
        text=answer.text if answer.tokens is None or item.block == 0 else None,
    )
