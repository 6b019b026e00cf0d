"""Drop measurements that violate the format, so that the rest of a result can be written.

A server may once answer with impossible counts, for example after a restart. A single such answer
must not make an hour of measurements unwritable.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from operator import attrgetter

from harness.errors import BadInputError
from harness.run.journal import Fact, ProbesFact, SnapshotFact, TrialFact, WarmupFact
from harness.run.record import failed_trial, later
from harness.runners.base import Failure
from schemas import contract
from schemas.codec import canonical_bytes, encode
from schemas.finding import Finding
from schemas.rules.measurements import least_window_ms, trials_within_window
from schemas.submission import Prompt, Submission, Trial

# Assembles a submission from the facts of a journal.
Assemble = Callable[[Sequence[Fact]], Submission]

_PLACE = re.compile(r"\$\.(trials|suite\.prompts|warmups|environment|probes)\b(?:\[(\d+)\])?")


def breach(fact: TrialFact, others: Sequence[Fact], assembled: Assemble) -> str | None:
    """Return the format rule that a trial violates irrespective of all others; else `None`."""
    submission = assembled(_with_only(fact, others))
    for found in contract.value_findings(submission):
        if isinstance(_entry(submission, found), Trial | Prompt):
            return _said(found)
    return None


def without_invalid(facts: Sequence[Fact], assembled: Assemble) -> Submission:
    """Assemble the submission without invalid entries; invalid trials count as failed."""
    while True:
        submission = assembled(facts)
        broken = [_entry(submission, each) for each in contract.value_findings(submission)]
        good = list(_good(facts, broken))
        if good == list(facts):
            return _long_enough(submission)
        facts = good


def require_writable(failed: TrialFact, others: Sequence[Fact], assembled: Assemble) -> None:
    """Raise `BadInputError` if the result would be invalid whatever is measured.

    `failed` is a placeholder trial, since a result needs at least one trial.
    """
    submission = without_invalid(_with_only(failed, others), assembled)
    found = contract.findings(canonical_bytes(encode(submission)))
    if found:
        raise BadInputError(
            f"nothing was measured, because the result would be invalid: {_said(found[0])}"
        )


def _good(facts: Sequence[Fact], broken: Collection[object]) -> Iterator[Fact]:
    """Yield the facts with broken trials marked as failed, and without other `broken` entries."""
    orders = {each.order for each in broken if isinstance(each, Trial)}
    failure = Failure(reason="bad-answer", detail="")
    for fact in facts:
        match fact:
            case TrialFact(trial=trial, prompt=prompt) if trial.order in orders or prompt in broken:
                failed = failed_trial(trial, failure, order=trial.order)
                yield TrialFact(trial=failed, prompt=Prompt(id=prompt.id, task=prompt.task))
            case WarmupFact(warmup=entry) | SnapshotFact(snapshot=entry) | ProbesFact(probes=entry):
                if entry not in broken:
                    yield fact
            case _:
                yield fact


def _entry(submission: Submission, found: Finding) -> object:
    """Return the submission's entry that a finding concerns, if it stems from a single fact."""
    match = _PLACE.match(found.path)
    if match is None:
        return None
    value = attrgetter(match[1])(submission)
    return value if match[2] is None else value[int(match[2])]


def _long_enough(submission: Submission) -> Submission:
    """Make the end time cover all trials: the clock may have been set back before a resumption."""
    if not any(trials_within_window(submission)):
        return submission
    seconds = least_window_ms(submission) / 1000
    return replace(submission, measured_until=later(submission.measured_from, seconds))


def _with_only(trial: TrialFact, facts: Sequence[Fact]) -> list[Fact]:
    alone = TrialFact(trial=replace(trial.trial, order=0), prompt=trial.prompt)
    return [*(fact for fact in facts if not isinstance(fact, TrialFact)), alone]


def _said(found: Finding) -> str:
    return f"{found.path}: {found.message} [{found.rule}]"
