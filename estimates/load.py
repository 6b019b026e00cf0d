"""How much other programs used the processor, and how much wider that makes an interval.

Interleaving takes out what slows all arms alike. Other programs do not: a round of several tokens
waits for cores, caches and memory otherwise than a single step does, so that under load the ratio
itself moves, by more than its repetitions show. A quick run next to twenty busy processes on two
cores gave 0.76 [0.70, 0.83] where 0.88 is true on the quiet machine.
"""

import math
from collections.abc import Iterator

from estimates.model import Interval
from schemas.submission import Snapshot, Submission
from schemas.vocabulary import say
from schemas.vocabulary.flags import Severity

# A machine is never quite idle: so many busy cores of other programs per core change nothing.
USUAL = 0.15
# How far the logarithm of a ratio may move with every further busy core per core, and at most.
MOVED_PER_CORE, MOST_MOVED = 0.12, 0.25
# Where less of the processor's time than this is used, nobody waits for it.
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
    """How serious a flag about load is: beyond a limit no sign is given."""
    return "serious" if strain(submission) > TOO_BUSY else "caution"


def allowance(submission: Submission) -> str:
    """What the flags about load say of the intervals; empty where they are as they were."""
    extra = moved(submission)
    return f" Intervals allow for {say.percent(math.expm1(extra))} of it." if extra else ""


def humbled(interval: Interval | None, submission: Submission) -> Interval | None:
    """The interval with what the load may have moved, as an independent part of its width."""
    return None if interval is None else interval.wider(moved(submission))


def in_use(shot: Snapshot, cores: int, *, own: int = 0) -> float:
    """Busy cores per core beyond `own` ones: by what was used right then, else by the load.

    The load average remembers a minute and so a campaign of our own that has just ended. Only it
    tells how many wait where all cores are busy.
    """
    used = shot.busy_fraction
    if used is not None and used < SATURATED:
        return used
    return max(used or 0.0, ((shot.load_1min or 0.0) - own) / cores)


def _strains(shot: Snapshot, submission: Submission) -> Iterator[float]:
    cores = submission.machine.cpu.logical_cores or 1
    # The campaign's own threads count as load too; unknown, it may use every core. Before it runs,
    # one loads and checks the models.
    own = 1 if shot.moment == "before" else min(submission.settings.threads or cores, cores)
    yield in_use(shot, cores, own=own)
    if shot.moment == "before" and shot.cpu_pressure is not None:
        yield _waited(shot.cpu_pressure)
    if shot.steal_fraction is not None:
        yield _waited(shot.steal_fraction)


def _waited(share: float) -> float:
    """Who waits for a share of the time has that much for the rest of it taken by others."""
    return share / max(0.1, 1 - share)
