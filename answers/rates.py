"""Derive the bandwidth that a device reached from a measured plain speed, and predict with it.

A plain speed times the bytes that a token reads is the rate at which the device's memory was read.
Another model on the same device is read at about that rate.
"""

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from answers.model import ModelFacts
from answers.speed import starts_ms, weights_per_token

_ALIKE = 0.2  # models whose sizes differ by less are equally near
_GB, _MS = 1e9, 1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """The bandwidth that a device, or a processor, reached with a model that it held whole."""

    device: str
    on_cpu: bool
    model: str
    tps: float
    gb_per_token: float
    gb_per_s: float
    source: str


def rate_of(
    facts: ModelFacts, tps: float, *, on_cpu: bool, device: str, source: str
) -> Rate | None:
    """The rate behind a plain speed; `None` for a speed that no memory could explain."""
    left_ms = _MS / tps - (0.0 if on_cpu else starts_ms(facts, len(facts.layers)))
    if left_ms <= 0:
        return None
    gb = gb_per_token(facts)
    return Rate(
        device=device,
        on_cpu=on_cpu,
        model=facts.name,
        tps=tps,
        gb_per_token=gb,
        gb_per_s=gb / left_ms * _MS,
        source=source,
    )


def gb_per_token(facts: ModelFacts) -> float:
    """What a token reads of a model's weights."""
    return weights_per_token(facts) / _GB


def reached(rates: Iterable[Rate], gb: float) -> float | None:
    """The rate for a model that reads so much: the median of the models nearest to it in size."""
    distances = [(abs(math.log(rate.gb_per_token / gb)), rate.gb_per_s) for rate in rates]
    least = min((distance for distance, _ in distances), default=0.0)
    nearest = [rate for distance, rate in distances if distance <= least + _ALIKE]
    return statistics.median(nearest) if nearest else None
