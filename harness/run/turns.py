"""Lets several engines share one machine: one block each in turn.

A machine that slows down during the hours of a comparison then slows all of them.
"""

from collections.abc import Generator, Mapping

from harness.errors import HarnessError, NothingMeasuredError
from schemas.submission import Submission

EngineRun = Generator[None, None, Submission]


class NotStartedError(NothingMeasuredError):
    """A run was interrupted before anything of it was measured."""


def in_turn(runs: Mapping[str, EngineRun]) -> dict[str, Submission | HarnessError]:
    """What every run measured, or the error that ended it; the others go on without it.

    Ctrl-C ends all of them: the active run ends by itself, the others get it in their pause.
    """
    waiting = dict(runs)
    ended: dict[str, Submission | HarnessError] = {}
    interrupted = False
    while waiting:
        for name, run in tuple(waiting.items()):
            outcome = _step(run, interrupted=interrupted)
            if outcome is None:
                continue
            ended[name] = outcome
            del waiting[name]
            interrupted = interrupted or _was_interrupted(outcome)
    return {name: ended[name] for name in runs}


def _step(run: EngineRun, *, interrupted: bool) -> Submission | HarnessError | None:
    """Measure one block; returns what the run ended with, `None` while it goes on."""
    try:
        if interrupted:
            run.throw(KeyboardInterrupt)
        else:
            next(run)
    except StopIteration as end:
        submission: Submission = end.value
        return submission
    except HarnessError as error:
        return error
    except KeyboardInterrupt:
        return NotStartedError("interrupted before it started")
    return None


def _was_interrupted(outcome: Submission | HarnessError) -> bool:
    if isinstance(outcome, HarnessError):
        return isinstance(outcome, NothingMeasuredError)
    return outcome.design.ended == "interrupted"
