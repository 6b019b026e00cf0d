"""Predict tokens per second from the bytes that a step reads and the bandwidth of each memory.

The time of a step is the bytes on the devices over the devices' bandwidth, plus the bytes in host
memory over the host's bandwidth. Each bandwidth is multiplied by an efficiency (Williams, Waterman
and Patterson 2009, Roofline).
"""

import re
from functools import cache, lru_cache
from typing import Literal

import msgspec
from msgspec.structs import replace

from planner.memory import kv_mib
from planner.model import MIB, LayerPlacement, ModelFacts, Setting, sums_of
from planner.placement import LoadPlan, Projection

# The basis of an estimate: a run on this machine with or without a verdict, results of this card
# and model, the fit to all results, a measured curve of step times, the asker's acceptance, or
# formulas.
Basis = Literal[
    "here", "doubted", "measured", "imported", "published", "predicted", "curve", "acceptance",
    "physics",
]  # fmt: skip

# The share of the nominal bandwidth that plain decoding reaches, by kind of card: medians of the
# rows of `bench/plan/speeds.sql`. Other cards reach `EFFICIENCY`, as in public measurements.
EFFICIENCY = 0.62
_EFFICIENCY = (
    (re.compile(r"(tesla )?v100"), 0.6),
    (re.compile(r"[abh][12]00"), 0.45),
    (re.compile(r"gtx 1|tesla|quadro p|p\d|titan|cmp"), 0.48),
    (re.compile(r"rtx (30|a\d)"), 0.66),
    (re.compile(r"rtx 50[67]"), 0.82),
    (re.compile(r"rtx|[abhl]\d"), 0.77),
    (re.compile(r"apple m[12]\b"), 0.51),
    (re.compile(r"apple m3"), 0.63),
    (re.compile(r"apple m\d"), 0.76),
    (re.compile(r"\d{3,4}[ms]$"), 0.74),
    (re.compile(r"rx|pro w"), 0.52),
)
# The share of that rate at which a device reads experts: with half of it, people's figures of
# mixtures are off by a factor of 1.18 in the median, and by 1.36 with the whole of it.
EXPERTS_SHARE = 0.5
# Processors reach a lower share: 0.53 in the published run of a 27B model in DDR5-4800 memory.
HOST_EFFICIENCY = 0.5 / 0.62
# The error of plain speeds as a factor. With medians of other sources, 89 % of the rows are within.
SPEED_ERROR = 1.3
MS_PER_LAYER = 0.02  # the time to launch the kernels of a layer
MS_PER_CHOICE = 0.05  # assumed: the time to choose experts and launch their kernels, per layer
# The time to the host and back for a layer with experts in host memory. In a public log, 35B-A3B
# with the experts of 34 layers in main memory ran at 26.5 tokens/s on an RTX 3060.
MS_PER_CROSSING = 0.3
ASSUMED_GB_PER_S, ASSUMED_HOST_GB_PER_S = 400.0, 50.0
# The context depth at which speeds are stated, and the share of a long context that is in use on
# average: assumed, so that the usual 4,096 tokens mean that depth.
_DEPTH_TOKENS, _FILLED = 512, 8
_GB = 1e9
_MS = 1000.0


class Ranged(msgspec.Struct, frozen=True, kw_only=True):
    """An estimate with its 90 % interval."""

    estimate: float
    low: float
    high: float


class SpeedEstimate(Ranged, frozen=True, kw_only=True):
    """A speed or a speedup, and the basis of the estimate."""

    basis: Basis

    def times(self, ratio: "SpeedEstimate") -> "SpeedEstimate":
        """Multiply the speed by a speedup; the product takes the basis of the speedup."""
        return SpeedEstimate(
            estimate=self.estimate * ratio.estimate,
            low=self.low * ratio.low,
            high=self.high * ratio.high,
            basis=ratio.basis,
        )


class MachineSpeed(msgspec.Struct, frozen=True, kw_only=True):
    """The GB/s at which decoding reads all devices together, and main memory."""

    device: float
    host: float


def nominal_speed(
    device: float | None,
    host: float | None,
    *,
    efficiency: float = EFFICIENCY,
    unified: bool = False,
) -> MachineSpeed:
    """The speed by nominal bandwidths in GB/s; `None` is assumed.

    Decoding reaches a share of them, on devices the `efficiency`. `unified` devices read main
    memory.
    """
    usual = ASSUMED_HOST_GB_PER_S if unified else ASSUMED_GB_PER_S
    return MachineSpeed(
        device=(device or usual) * efficiency,
        host=(host or ASSUMED_HOST_GB_PER_S) * EFFICIENCY * HOST_EFFICIENCY,
    )


class StepBytes(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes that a step reads on devices and in host memory, and its fixed time in milliseconds.

    Experts on devices count twice, because they are read at half the rate.
    """

    device: float
    host: float
    launches_ms: float


@lru_cache(maxsize=4096)
def step_bytes(facts: ModelFacts, placement: LayerPlacement, setting: Setting) -> StepBytes:
    """The weights and cache that a step reads with this placement, with an eighth of the context.

    Of a mixture's experts, only those are read that one token needs. The output matrix is on a
    device if any layer is. A plain step reads neither the prediction head nor the token embedding.
    """
    filled = max(_DEPTH_TOKENS, setting.context // setting.slots // _FILLED)
    setting = replace(setting, context=filled, slots=1)
    sums, own, on_device = sums_of(facts), len(facts.layers), placement.layers > 0
    first = min(own, max(0, facts.placed_layers - placement.layers))
    stay = max(first, min(own, placement.cpu_experts))
    used = facts.used_share
    device = sums.dense[own] - sums.dense[first] + on_device * facts.output_bytes
    device += (sums.experts[own] - sums.experts[stay]) * used / EXPERTS_SHARE
    host = sums.dense[first] + (not on_device) * facts.output_bytes + sums.experts[stay] * used
    for layer, before in sums.caches:
        cache = kv_mib(layer, setting) * MIB
        device += cache * (before[own] - before[first])
        host += cache * before[first]
    launches = starts_ms(facts, min(placement.layers, len(facts.layers)))
    launches += min(placement.layers, placement.cpu_experts) * MS_PER_CROSSING
    return StepBytes(device=device, host=host, launches_ms=launches)


def plain(load: LoadPlan, found: Projection, machine: MachineSpeed) -> SpeedEstimate:
    """Tokens per second of plain decoding, without speculation."""
    tps = plain_tps(step_bytes(load.target, found.placement, load.setting), machine)
    low, high = tps / SPEED_ERROR, tps * SPEED_ERROR
    return SpeedEstimate(estimate=tps, low=low, high=high, basis="physics")


def plain_tps(step: StepBytes, machine: MachineSpeed) -> float:
    """Tokens per second of plain decoding if each step reads these bytes, without an interval."""
    device_s = step.device / (machine.device * _GB) + step.launches_ms / _MS
    return 1 / (device_s + step.host / (machine.host * _GB))


@cache
def efficiency_of(card: str) -> float:
    """The share of its nominal bandwidth that a kind of card reaches in plain decoding."""
    return next((share for cards, share in _EFFICIENCY if cards.match(card)), EFFICIENCY)


@lru_cache(maxsize=512)
def weights_per_token(facts: ModelFacts) -> float:
    """The bytes of weights that one token reads from all memories."""
    layers = (layer.weight_bytes + layer.expert_bytes * facts.used_share for layer in facts.layers)
    return facts.output_bytes + sum(layers)


def starts_ms(facts: ModelFacts, layers: int) -> float:
    """Milliseconds to launch the kernels of this many layers on a device."""
    return layers * (MS_PER_LAYER + (MS_PER_CHOICE if facts.mixture else 0.0))
