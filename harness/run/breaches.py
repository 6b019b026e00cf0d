"""Leave out of a result what breaks a rule of the format, so that all that is good can be written.

A server may answer with impossible counts once, such as after a restart. A rule that is broken by
one answer must not make an hour of measuring unwritable.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from harness.errors import BadInputError
from harness.run.journal import Fact, ProbesFact, SnapshotFact, TrialFact, WarmupFact
from harness.run.record import later
from schemas import contract
from schemas.codec import canonical_bytes, encode
from schemas.finding import Finding
from schemas.rules.design import least_window_ms, trials_within_window
from schemas.submission import Prompt, Submission, Trial

# From the facts of a journal to the submission that they make up.
Assemble = Callable[[Sequence[Fact]], Submission]

_PLACE = re.compile(r"\$\.(trials|suite\.prompts|warmups|environment|probes)\b(?:\[(\d+)\])?")
_OF_TRIAL = ("trials", "suite.prompts")


def breach(fact: TrialFact, others: Sequence[Fact], assembled: Assemble) -> str | None:
    """Which rule a trial breaks, whatever the other trials are; `None` if it breaks none."""
    alone = TrialFact(trial=replace(fact.trial, order=0), prompt=fact.prompt)
    found = contract.value_findings(assembled([*_without_trials(others), alone]))
    return next((_said(each) for each in found if _place(each)[0] in _OF_TRIAL), None)


def sound(facts: Sequence[Fact], assembled: Assemble) -> Submission:
    """The submission of the facts, without those that break a rule; such a trial is a failed one.

    What remains wrong is in no single fact, such as the name of a model.
    """
    while True:
        submission = assembled(facts)
        places = [_place(each) for each in contract.value_findings(submission)]
        good = list(_good(facts, submission, places))
        if good == list(facts):
            return _long_enough(submission)
        facts = good


def require_writable(failed: TrialFact, others: Sequence[Fact], assembled: Assemble) -> None:
    """Raise `BadInputError` for what would make the result invalid, whatever is measured.

    `failed` stands for the trials, without which there is no result.
    """
    submission = sound([*_without_trials(others), failed], assembled)
    found = contract.findings(canonical_bytes(encode(submission)))
    if found:
        message = f"nothing was measured, since no valid result can come of it: {_said(found[0])}"
        raise BadInputError(message)


def failed(fact: TrialFact) -> TrialFact:
    """The same trial as one that got a bad answer, of which nothing is used."""
    trial, prompt = fact.trial, fact.prompt
    return TrialFact(
        trial=Trial(
            arm=trial.arm,
            prompt=trial.prompt,
            block=trial.block,
            order=trial.order,
            outcome="failed",
            reason="bad-answer",
        ),
        prompt=Prompt(id=prompt.id, task=prompt.task),
    )


def _good(
    facts: Sequence[Fact], submission: Submission, places: Sequence[tuple[str, int | None]]
) -> Iterator[Fact]:
    trials = {index for name, index in places if name == "trials"}
    broken = [_value(submission, *place) for place in places if place[0] != "trials"]
    order = 0
    for fact in facts:
        match fact:
            case TrialFact(trial=trial, prompt=prompt):
                bad = order in trials or (trial.outcome == "ok" and prompt in broken)
                order += 1
                yield failed(fact) if bad else fact
            case WarmupFact(warmup=value) | SnapshotFact(snapshot=value) | ProbesFact(probes=value):
                if value not in broken:
                    yield fact
            case _:
                yield fact


def _long_enough(submission: Submission) -> Submission:
    """It ended when its trials can have ended: the clock may be set back before it is resumed."""
    if not any(trials_within_window(submission)):
        return submission
    seconds = least_window_ms(submission) / 1000
    return replace(submission, measured_until=later(submission.measured_from, seconds))


def _value(submission: Submission, name: str, index: int | None) -> object:
    """What is at a place of a submission; `None` for a place that no single fact fills."""
    match name, index:
        case "suite.prompts", int(at):
            return submission.suite.prompts[at]
        case "warmups", int(at):
            return (submission.warmups or ())[at]
        case "environment", int(at):
            return (submission.environment or ())[at]
        case "probes", _:
            return submission.probes
    return None


def _place(found: Finding) -> tuple[str, int | None]:
    """The list that a finding is about, and the position in it."""
    match = _PLACE.match(found.path)
    if match is None:
        return "", None
    return match[1], None if match[2] is None else int(match[2])


def _without_trials(facts: Sequence[Fact]) -> list[Fact]:
    return [fact for fact in facts if not isinstance(fact, TrialFact)]


def _said(found: Finding) -> str:
    return f"{found.path}: {found.message} [{found.rule}]"
