"""How do several engines share one machine? One block each in turn.

A machine that slows down during the hours of a comparison then slows all of them.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping

from harness.errors import HarnessError, NothingMeasuredError
from schemas.submission import Submission

Leg = Generator[None, None, Submission]


class NotBegunError(NothingMeasuredError):
    """The leg was interrupted before anything of it ran."""


def in_turn(legs: Mapping[str, Leg]) -> dict[str, Submission | HarnessError]:
    """What every leg measured, or the error that ended it; the others go on without it.

    Ctrl-C ends all of them: the leg that runs ends by itself, the others get it in their pause.
    """
    waiting = dict(legs)
    ended: dict[str, Submission | HarnessError] = {}
    interrupted = False
    while waiting:
        for name, leg in tuple(waiting.items()):
            outcome = _step(leg, interrupted=interrupted)
            if outcome is None:
                continue
            ended[name] = outcome
            del waiting[name]
            interrupted = interrupted or _was_interrupted(outcome)
    return {name: ended[name] for name in legs}


def _step(leg: Leg, *, interrupted: bool) -> Submission | HarnessError | None:
    """One block of a leg, or its end."""
    try:
        if interrupted:
            leg.throw(KeyboardInterrupt)
        else:
            next(leg)
    except StopIteration as end:
        submission: Submission = end.value
        return submission
    except HarnessError as error:
        return error
    except KeyboardInterrupt:
        return NotBegunError("interrupted before it began")
    return None


def _was_interrupted(outcome: Submission | HarnessError) -> bool:
    if isinstance(outcome, HarnessError):
        return isinstance(outcome, NothingMeasuredError)
    return outcome.design.ended == "interrupted"
