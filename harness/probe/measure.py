"""Time steps of all widths pass by pass, and keep every pass as soon as it is measured."""

import time
from collections.abc import Callable

import msgspec

from harness.curves import kept
from harness.curves.kept import KeptCurve
from harness.runners.base import Stepped

# As in the probe of a run: enough that a program that comes and goes does not move the median.
PASSES, LEAST_PASSES = 21, 5


def measure(
    curve: KeptCurve,
    session: Stepped,
    *,
    budget_s: float,
    passed: Callable[[KeptCurve, float], None],
    clock: Callable[[], float] = time.monotonic,
) -> KeptCurve:
    """The complete curve; `curve` may have passes already.

    `passed` is told of each pass with the seconds that it took. No pass is begun that would overrun
    the budget, once there are the least. Raises `HarnessError` where steps cannot be timed.
    """
    began, pass_s = clock(), 0.0
    while curve.passes < PASSES:
        started = clock()
        if curve.passes >= LEAST_PASSES and started - began + pass_s > budget_s:
            break
        times = session.step_times(curve.widths)
        pass_s = clock() - started
        curve = curve.with_pass(times.ms)
        curve = msgspec.structs.replace(curve, context_tokens=times.context_tokens)
        kept.keep(curve)
        passed(curve, pass_s)
    curve = msgspec.structs.replace(curve, complete=True)
    kept.keep(curve)
    return curve
