"""Measure the time of steps of all widths, pass by pass; store each pass once it is finished."""

import time
from collections.abc import Callable

import msgspec

from harness.curves import kept
from harness.curves.kept import KeptCurve
from harness.runners.base import Stepped
from harness.runners.probes import passes


def measure(
    curve: KeptCurve,
    session: Stepped,
    *,
    budget_s: float,
    passed: Callable[[KeptCurve, float], None],
    clock: Callable[[], float] = time.monotonic,
) -> KeptCurve:
    """Measure the missing passes of a curve.

    After each pass, `passed` is called with the curve and the seconds that the pass took. Raises
    `HarnessError` if steps cannot be timed.
    """
    timed = passes(session, curve.widths, had=curve.passes, budget_s=budget_s, clock=clock)
    for times, pass_s in timed:
        curve = curve.with_pass(times.ms)
        curve = msgspec.structs.replace(curve, context_tokens=times.context_tokens)
        kept.keep(curve)
        passed(curve, pass_s)
    curve = msgspec.structs.replace(curve, complete=True)
    kept.keep(curve)
    return curve
