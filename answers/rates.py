"""Derive the bandwidth that a device reached from a measured plain speed, and predict with it.

A plain speed times the bytes read per token is the rate at which the device's memory was read.
Other models on the same device are read at about that rate.
"""

import math
import re
import statistics
from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from answers.machines import Computer
from answers.model import ModelFacts
from answers.speed import Bandwidth, starts_ms, weights_per_token

_ALIKE = 0.2  # models whose sizes differ by less than this count as equally near
_GB, _MS = 1e9, 1000.0
_THREADS = re.compile(r" \d+ threads$")


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """The bandwidth that a device or processor reached with a model entirely in its memory."""

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
    """The bandwidth implied by a plain speed; `None` if no memory could be that fast."""
    left_ms = _MS / tps - (0.0 if on_cpu else starts_ms(facts, len(facts.layers)))
    if left_ms <= 0:
        return None
    gb = weights_per_token(facts) / _GB
    return Rate(
        device=device,
        on_cpu=on_cpu,
        model=facts.name,
        tps=tps,
        gb_per_token=gb,
        gb_per_s=gb / left_ms * _MS,
        source=source,
    )


def with_rates(computer: Computer, rates: Sequence[Rate], facts: ModelFacts) -> Computer:
    """The computer with the bandwidths that its cards and its processor reached in results.

    Each bandwidth is from results with the models nearest in size; nominal without such a result.
    """
    found: dict[str, Bandwidth] = {}
    for memory, on_cpu in (("device", False), ("host", True)):
        own = (each for each in rates if each.on_cpu == on_cpu)
        if rate := reached(own, weights_per_token(facts) / _GB):
            found[memory] = Bandwidth(gb_per_s=rate, nearest=True)
    return replace(computer, speed=replace(computer.speed, **found))


def rates_of(computer: Computer, rates: Iterable[Rate]) -> tuple[Rate, ...]:
    """The bandwidths that the computer's cards and processor reached in results."""
    cards = {memory.card for memory in computer.devices}
    own = computer.host.card
    return tuple(
        each
        for each in rates
        if (is_processor(each.device, own) if each.on_cpu else each.device in cards)
    )


def is_processor(device: str, processor: str) -> bool:
    """Whether a device in the results is this processor; a stated number of threads is ignored."""
    return bool(processor) and processor in {device, _THREADS.sub("", device)}


def reached(rates: Iterable[Rate], gb: float) -> float | None:
    """The median bandwidth over the models nearest in size to one that reads `gb` per token.

    `None` without rates.
    """
    distances = [(abs(math.log(rate.gb_per_token / gb)), rate.gb_per_s) for rate in rates]
    least = min((distance for distance, _ in distances), default=0.0)
    nearest = [rate for distance, rate in distances if distance <= least + _ALIKE]
    return statistics.median(nearest) if nearest else None
