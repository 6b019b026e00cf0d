"""Simulate machines, each disturbed in a known way.

A disturbance slows both arms alike, so the truth remains the ratio of the undisturbed costs.
"""

import random
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace

from tests.harness.fake_runner import FakeRig

Trouble = Callable[[FakeRig, random.Random, float], FakeRig]

QUIET_NOISE = 0.02
DRIFT = 0.30
# Busy neighbours that take half of the machine: for several trials at a time, and for less than a
# trial.
LONG_BURST_MS, LONG_PAUSE_MS = 15_000.0, 20_000.0
SHORT_BURST_MS, SHORT_PAUSE_MS = 1_000.0, 2_000.0
BURST_FACTOR = 2.0
# One round in twenty is disturbed: 1 + Pareto(1.5) has no finite variance.
DISTURBED, TAIL = 0.05, 1.5
STALLED, STALL_FACTOR = 0.005, 25.0


def quiet(rig: FakeRig, _rng: random.Random, _duration_ms: float) -> FakeRig:
    """Every round varies by 2 %."""
    return replace(rig, noise=QUIET_NOISE)


def drift(rig: FakeRig, _rng: random.Random, duration_ms: float) -> FakeRig:
    """The machine slows down by 30 % from the first trial to the last."""
    return replace(
        rig, noise=QUIET_NOISE, slowdown_at=lambda clock_ms: 1 + DRIFT * clock_ms / duration_ms
    )


def long_bursts(rig: FakeRig, rng: random.Random, duration_ms: float) -> FakeRig:
    """Stretches of about 15 seconds at half speed, 20 seconds apart."""
    slowdown_at = bursts(rng, LONG_BURST_MS, LONG_PAUSE_MS, duration_ms)
    return replace(rig, noise=QUIET_NOISE, slowdown_at=slowdown_at)


def short_bursts(rig: FakeRig, rng: random.Random, duration_ms: float) -> FakeRig:
    """Stretches of about a second at half speed, which begin and end within a trial."""
    slowdown_at = bursts(rng, SHORT_BURST_MS, SHORT_PAUSE_MS, duration_ms)
    return replace(rig, noise=QUIET_NOISE, slowdown_at=slowdown_at)


def heavy_tails(rig: FakeRig, _rng: random.Random, _duration_ms: float) -> FakeRig:
    """One round in 20 is longer by a heavy-tailed amount; one in 200 stalls for half a second."""
    return replace(rig, noise=QUIET_NOISE, disturbance=_tail)


SCENARIOS: dict[str, Trouble] = {
    "quiet": quiet,
    "drift": drift,
    "bursts": long_bursts,
    "short-bursts": short_bursts,
    "heavy-tails": heavy_tails,
}


def bursts(
    rng: random.Random, burst_ms: float, pause_ms: float, duration_ms: float
) -> Callable[[float], float]:
    """Return the slowdown factor over time: slow and normal stretches of exponential length."""
    slow_first = rng.random() < burst_ms / (burst_ms + pause_ms)
    edges: list[float] = []
    clock_ms, slow = 0.0, slow_first
    while clock_ms < BURST_FACTOR * duration_ms:
        clock_ms += rng.expovariate(1 / (burst_ms if slow else pause_ms))
        edges.append(clock_ms)
        slow = not slow
    return lambda at_ms: BURST_FACTOR if slow_first ^ (bisect_right(edges, at_ms) % 2) else 1.0


def _tail(rng: random.Random) -> float:
    chance = rng.random()
    if chance < STALLED:
        return STALL_FACTOR
    return rng.paretovariate(TAIL) if chance < STALLED + DISTURBED else 1.0
