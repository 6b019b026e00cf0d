"""Measure how much other programs used the processor, and widen intervals accordingly.

Interleaving removes slowdowns that affect all arms alike. But load also changes the ratio itself,
by more than repetitions of the ratio show.
"""

import math
from collections.abc import Iterator

from estimates.model import Interval
from schemas.submission import Snapshot, Submission
from schemas.vocabulary import say
from schemas.vocabulary.flags import Severity

# No machine is completely idle: up to this many busy cores of other programs per core are ignored.
USUAL = 0.15
# The change of the logarithm of a ratio for each further busy core per core, and its maximum.
MOVED_PER_CORE, MOST_MOVED = 0.12, 0.25
# If less of the processor's time than this is used, no program waits for a core.
SATURATED = 0.95
# With twice as much other work as cores, a verdict would be about that work, not about the arm.
TOO_BUSY = 2.0


def strain(submission: Submission) -> float:
    """The highest share of cores that other programs used, by load, CPU pressure or stolen time."""
    return max(
        (each for shot in submission.environment or () for each in _strains(shot, submission)),
        default=0.0,
    )


def moved(submission: Submission) -> float:
    """The possible effect of load on a ratio, as a change of its logarithm."""
    return min(MOST_MOVED, MOVED_PER_CORE * max(0.0, strain(submission) - USUAL))


def severity(submission: Submission) -> Severity:
    """The severity of a flag about load; a serious one prevents a verdict."""
    return "serious" if strain(submission) > TOO_BUSY else "caution"


def allowance(submission: Submission) -> str:
    """The sentence that says by how much intervals allow for load; empty if they do not."""
    extra = moved(submission)
    return (
        f" The intervals allow for an effect of {say.percent(math.expm1(extra))}." if extra else ""
    )


def widen_for_load(interval: Interval | None, submission: Submission) -> Interval | None:
    """The interval, with the possible effect of load as an independent error."""
    return None if interval is None else interval.wider(moved(submission))


def in_use(shot: Snapshot, cores: int, *, own: int = 0) -> float:
    """The share of cores in use or, if nearly all are, the load per core beyond `own` threads.

    The load average covers a minute, so it still counts a campaign that has just ended. But only
    the load average shows how many programs wait when all cores are busy.
    """
    used = shot.busy_fraction
    if used is not None and used < SATURATED:
        return used
    return max(used or 0.0, ((shot.load_1min or 0.0) - own) / cores)


def _strains(shot: Snapshot, submission: Submission) -> Iterator[float]:
    cores = submission.machine.cpu.logical_cores or 1
    # The campaign's threads count as load, too; if their number is unknown, the campaign may use
    # every core. Before the campaign runs, one thread loads and checks the models.
    own = 1 if shot.moment == "before" else min(submission.settings.threads or cores, cores)
    yield in_use(shot, cores, own=own)
    if shot.moment == "before" and shot.cpu_pressure is not None:
        yield _waited(shot.cpu_pressure)
    if shot.steal_fraction is not None:
        yield _waited(shot.steal_fraction)


def _waited(share: float) -> float:
    """The share of cores that other programs use, from the share of time that a program waited."""
    return share / max(0.1, 1 - share)
