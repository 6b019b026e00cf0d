"""Measure how much other programs used the processor, and widen intervals for it.

Interleaving removes what slows all arms alike, but under load the ratio itself moves, by more than
its repetitions show.
"""

import math
from collections.abc import Iterator

from estimates.model import Interval
from schemas.submission import Snapshot, Submission
from schemas.vocabulary import say
from schemas.vocabulary.flags import Severity

# A machine is never quite idle: this many busy cores of other programs per core change nothing.
USUAL = 0.15
# How far the logarithm of a ratio may move with every further busy core per core, and at most.
MOVED_PER_CORE, MOST_MOVED = 0.12, 0.25
# If less of the processor's time than this is used, no program waits for it.
SATURATED = 0.95
# With twice as much other work as there are cores, a sign would say more about it than about the
# arm.
TOO_BUSY = 2.0


def strain(submission: Submission) -> float:
    """Busy cores of other programs per core, from load, processor pressure and stolen time."""
    return max(
        (each for shot in submission.environment or () for each in _strains(shot, submission)),
        default=0.0,
    )


def moved(submission: Submission) -> float:
    """How far the load may have moved the logarithm of a ratio."""
    return min(MOST_MOVED, MOVED_PER_CORE * max(0.0, strain(submission) - USUAL))


def severity(submission: Submission) -> Severity:
    """How serious a flag about load is; under a serious one no verdict is given."""
    return "serious" if strain(submission) > TOO_BUSY else "caution"


def allowance(submission: Submission) -> str:
    """A sentence on the intervals for the flags about load; empty if no interval is wider."""
    extra = moved(submission)
    return f" Intervals allow for {say.percent(math.expm1(extra))} of it." if extra else ""


def widen_for_load(interval: Interval | None, submission: Submission) -> Interval | None:
    """The interval, with what the load may have moved as an independent part of its width."""
    return None if interval is None else interval.wider(moved(submission))


def in_use(shot: Snapshot, cores: int, *, own: int = 0) -> float:
    """Busy cores per core beyond `own` ones: from the share in use at that moment, else the load.

    The load average covers a minute and so includes a campaign of ours that has just ended. But
    only it shows how many programs wait when all cores are busy.
    """
    used = shot.busy_fraction
    if used is not None and used < SATURATED:
        return used
    return max(used or 0.0, ((shot.load_1min or 0.0) - own) / cores)


def _strains(shot: Snapshot, submission: Submission) -> Iterator[float]:
    cores = submission.machine.cpu.logical_cores or 1
    # The campaign's own threads count as load too; if unknown, it may use every core. Before it
    # runs, one thread loads and checks the models.
    own = 1 if shot.moment == "before" else min(submission.settings.threads or cores, cores)
    yield in_use(shot, cores, own=own)
    if shot.moment == "before" and shot.cpu_pressure is not None:
        yield _waited(shot.cpu_pressure)
    if shot.steal_fraction is not None:
        yield _waited(shot.steal_fraction)


def _waited(share: float) -> float:
    """Busy cores of other programs, from the share of time for which a program waited."""
    return share / max(0.1, 1 - share)
