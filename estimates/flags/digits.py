"""A flag about times that come in coarse steps, and the clock resolution behind them."""

import math
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from statistics import median

from estimates.flags.catalogue import Observation, bounds
from estimates.flags.evidence import FlagEvidence, shared

ROUNDED = bounds("rounded-times")
# The harness writes microseconds at the finest; further digits come from arithmetic.
_FINEST_DECIMALS = 3
# The distance in ticks between a coarse clock's printed reading and a multiple of its tick.
_OFF_TICK = Decimal("0.1")
# Clocks that count milliseconds or hundredths of a second, Windows (1/64 s), and screens.
_TICKS_MS, _TICKS_DIFFER = (1.0, 10.0, 15.6, 16.7), 0.01


def rounded_times(evidence: FlagEvidence) -> Observation | None:
    """Every time is a multiple of a coarse step."""
    times = _times(evidence)
    if len(times) < ROUNDED["fewest"] or len(set(times)) == 1:
        return None
    step_ms = clock_step(evidence)
    if step_ms < ROUNDED["step_ms"] and step_ms < ROUNDED["share"] * float(median(times)):
        return None
    return Observation(count=len(times), step_ms=step_ms)


@shared
def clock_step(evidence: FlagEvidence) -> float:
    """The resolution of the clock in milliseconds, as far as times reveal it.

    Some clocks advance by a tick of `_TICKS_MS`. Every time is then close to a multiple of the
    smallest difference between two times. Otherwise the resolution is that of the printed decimals.
    """
    times = sorted(set(_times(evidence)))
    gaps = [after - before for before, after in pairwise(times)]
    if gaps:
        least = min(gaps)
        tick = (times[-1] - times[0]) / sum(round(gap / least) for gap in gaps)
        is_real = any(math.isclose(tick, each, rel_tol=_TICKS_DIFFER) for each in _TICKS_MS)
        if is_real and all(abs(each / tick - round(each / tick)) < _OFF_TICK for each in times):
            return float(tick)
    return float(_step(times)) if times else 0.0


def _times(evidence: FlagEvidence) -> list[Decimal]:
    """All decode times in milliseconds, rounded to the microsecond."""
    finest = Decimal(1).scaleb(-_FINEST_DECIMALS)
    return [
        Decimal(repr(each.decode_ms)).quantize(finest)
        for each in evidence.submission.trials
        if each.decode_ms
    ]


def _step(times: Sequence[Decimal]) -> Decimal:
    """The largest power of ten that divides all times."""
    step = Decimal(1).scaleb(-_FINEST_DECIMALS)
    while all(time % (step * 10) == 0 for time in times) and step < max(times):
        step *= 10
    return step
