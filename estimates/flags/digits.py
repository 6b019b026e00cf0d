"""Flags about times with digits that no clock writes."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from statistics import median

from estimates.flags.catalogue import Seen, bounds, seen
from estimates.flags.evidence import FlagEvidence
from estimates.once import once
from estimates.significance import p_of_even

ROUNDED, UNEVEN = bounds("rounded-times"), bounds("uneven-digits")
# Microseconds are the finest that the harness writes; further digits come from arithmetic.
_FINEST_DECIMALS = 3
# How far from a multiple of its tick, in ticks, a coarse clock's reading may be printed.
_OFF_TICK = Decimal("0.1")


def rounded_times(evidence: FlagEvidence) -> Seen | None:
    """Every time is a multiple of a coarse step."""
    times = _times(evidence)
    if len(times) < ROUNDED["fewest"] or len(set(times)) == 1:
        return None
    step_ms = float(_step(times))
    if step_ms < ROUNDED["step_ms"] and step_ms < ROUNDED["share"] * float(median(times)):
        return None
    return seen(count=len(times), step_ms=step_ms)


def uneven_digits(evidence: FlagEvidence) -> Seen | None:
    """The last digits of the times are far from evenly spread."""
    times = set(_times(evidence))
    if not times:
        return None
    step = _step(sorted(times))
    readings = [int(time / step) for time in times]
    last = Counter(reading % 10 for reading in readings if reading >= UNEVEN["least_reading"])
    if last.total() < UNEVEN["fewest"]:
        return None
    if p_of_even([last[digit] for digit in range(10)]) >= UNEVEN["p"]:
        return None
    digit, count = last.most_common(1)[0]
    return seen(total=last.total(), count=count, digit=digit)


@once
def clock_step(evidence: FlagEvidence) -> float:
    """Milliseconds from one possible reading of the clock to the next, as far as the times show.

    Some clocks advance by 10 to 16 ms: then every time is close to a multiple of the least
    difference between two of them. Otherwise the printed decimals limit it.
    """
    times = sorted(set(_times(evidence)))
    gaps = [after - before for before, after in pairwise(times)]
    if gaps:
        tick = (times[-1] - times[0]) / sum(round(gap / min(gaps)) for gap in gaps)
        if all(abs(each / tick - round(each / tick)) < _OFF_TICK for each in times):
            return float(tick)
    return float(_step(times)) if times else 0.0


def _times(evidence: FlagEvidence) -> list[Decimal]:
    """All decode times, to the microsecond."""
    finest = Decimal(1).scaleb(-_FINEST_DECIMALS)
    return [
        Decimal(repr(each.decode_ms)).quantize(finest)
        for each in evidence.submission.trials
        if each.decode_ms
    ]


def _step(times: Sequence[Decimal]) -> Decimal:
    """The coarsest power of ten that all times are multiples of."""
    step = Decimal(1).scaleb(-_FINEST_DECIMALS)
    while all(time % (step * 10) == 0 for time in times) and step < max(times):
        step *= 10
    return step
