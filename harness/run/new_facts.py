"""Turn a session's return values into journal entries ("facts"). Pure functions."""

from collections.abc import Sequence
from dataclasses import replace

from harness.campaign.model import ArmPlan, PlannedTrial, SuitePrompt
from harness.run import journal
from harness.run.record import failed_trial, trial_of
from harness.runners.base import Failure, Generation, PreparedArm
from schemas.submission import Arm, Prompt, Warmup


def of_arm(arm: ArmPlan, prepared: PreparedArm | Failure) -> journal.ArmFact:
    """Return the journal entry for an arm that was loaded, or that failed to load."""
    recorded = Arm(
        id=arm.id,
        role=arm.role,
        method=arm.method,
        baseline=arm.baseline,
        concurrency=None if arm.concurrency == 1 else arm.concurrency,
        outcome="ok",
    )
    if isinstance(prepared, Failure):
        return journal.ArmFact(arm=replace(recorded, outcome="failed", reason=prepared.reason))
    loaded = replace(
        recorded,
        load_s=None if prepared.load_s is None else round(prepared.load_s, 3),
        placement=prepared.placement,
        peak_memory=prepared.peak_memory,
        argv=prepared.argv,
    )
    return journal.ArmFact(arm=loaded)


def of_warm_up(arm: ArmPlan, answer: Generation) -> journal.WarmupFact:
    decode_ms = round(answer.decode_ms, 3)
    warmup = Warmup(arm=arm.id, output_tokens=answer.output_tokens, decode_ms=decode_ms)
    return journal.WarmupFact(warmup=warmup)


def of_trial(
    answer: Generation,
    item: PlannedTrial,
    prompts: Sequence[SuitePrompt],
    order: int,
    *,
    started_ms: float | None,
) -> journal.TrialFact:
    """Return the journal entry for a successful trial.

    The answer's text is kept in the first block, or if there are no token ids.
    """
    asked = _asked(item, prompts)
    return journal.TrialFact(
        trial=trial_of(answer, item, order=order, started_ms=started_ms, prompt=asked),
        prompt=_prompt(asked, answer),
        tokens=answer.tokens,
        margins=answer.margins,
        text=answer.text if answer.tokens is None or item.block == 0 else None,
        prompt_ids=answer.prompt_ids if item.block == 0 else None,
    )


def of_failure(
    failure: Failure, item: PlannedTrial, prompts: Sequence[SuitePrompt], order: int
) -> journal.TrialFact:
    trial = failed_trial(item, failure, order=order)
    return journal.TrialFact(trial=trial, prompt=_prompt(_asked(item, prompts), None))


def _prompt(asked: SuitePrompt, answer: Generation | None) -> Prompt:
    return Prompt(
        id=asked.id,
        task=asked.task,
        tokens=answer.prompt_tokens if answer else None,
        rendered_sha256=answer.prompt_sha256 if answer else None,
    )


def _asked(item: PlannedTrial, prompts: Sequence[SuitePrompt]) -> SuitePrompt:
    return next(each for each in prompts if each.id == item.prompt)
