"""Compute until a GPU's clock, power and temperature have settled: a cold GPU is often faster."""

from collections.abc import Callable
from dataclasses import replace

from harness.runners.base import Failure, PreparedArm
from schemas.rig import Snapshot

# Two readings this many seconds apart must agree. A device that never settles is measured anyway.
APART_S, LONGEST_S = 10.0, 60.0
_CLOCK, _POWER, _DEGREES = 0.02, 0.05, 1.0


def wait_until_settled(
    warm_up: Callable[[], PreparedArm | Failure],
    first: PreparedArm,
    snapshot: Callable[[], Snapshot],
    clock: Callable[[], float],
) -> Snapshot | None:
    """Return the state in which a GPU settled, or its state when time ran out.

    `first` is the warm-up that has just ended. Returns `None` if neither clock nor power can be
    read, or if a warm-up fails.
    """
    readings: list[tuple[float, Snapshot]] = []
    done: PreparedArm | Failure = first
    while not isinstance(done, Failure):
        state, at_s = snapshot(), clock()
        if state.gpu_clock_mhz is None and state.gpu_power_w is None:
            return None
        readings.append((at_s, state))
        earlier = [then for since, then in readings if at_s - since >= APART_S]
        steady = bool(earlier) and _agree(state, earlier[-1])
        if steady or at_s - readings[0][0] >= LONGEST_S:
            return replace(state, steady=steady)
        done = warm_up()
    return None


def _agree(one: Snapshot, other: Snapshot) -> bool:
    figures = (
        (one.gpu_clock_mhz, other.gpu_clock_mhz, _CLOCK),
        (one.gpu_power_w, other.gpu_power_w, _POWER),
    )
    known = [(a, b, share) for a, b, share in figures if a is not None and b is not None]
    warmer = abs((one.gpu_temperature_c or 0.0) - (other.gpu_temperature_c or 0.0))
    return warmer <= _DEGREES and all(abs(a - b) <= share * max(a, b) for a, b, share in known)
