"""Predict tokens per second from the bytes that a step reads and the bandwidth of each memory.

The time of a step is the bytes on the devices over the devices' bandwidth, plus the bytes in host
memory over the host's bandwidth. Each bandwidth is multiplied by an efficiency (Williams, Waterman
and Patterson 2009, Roofline). If results of the same machine show the bandwidths that it reached,
these replace the nominal values times the efficiency.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

import msgspec
from msgspec.structs import replace

from answers.memory import kv_mib
from answers.model import MIB, LayerPlacement, ModelFacts, Setting, sums_of
from answers.placement import LoadPlan, Projection

# The basis of an estimate: a run on this machine with or without a verdict, results of this card
# and model, the fit to all results, a measured curve of step times, results of other models on this
# card, or formulas.
Basis = Literal[
    "here", "doubted", "measured", "imported", "published", "predicted", "curve", "nearest",
    "physics",
]  # fmt: skip
RateOf = Literal["device", "host"]  # the memory that a bandwidth belongs to

# Shares of the nominal bandwidth that plain decoding reached in public measurements.
EFFICIENCY_LOW, EFFICIENCY, EFFICIENCY_HIGH = 0.51, 0.62, 0.81
# Processors reach a lower share: 0.53 in the published run of a 27B model in DDR5-4800 memory.
HOST_EFFICIENCY = 0.5 / 0.62
# The error of estimates from the same device with other models; four in five should be within it.
NEAREST_ERROR = 1.25
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


class SpeedEstimate(msgspec.Struct, frozen=True, kw_only=True):
    """A speed or a speedup with its interval, and the basis of the estimate.

    `assumes` lists the memories whose bandwidth nobody measured or stated.
    """

    estimate: float
    low: float
    high: float
    basis: Basis
    assumes: tuple[RateOf, ...] = ()

    def times(self, ratio: "SpeedEstimate") -> "SpeedEstimate":
        """Multiply the speed by a speedup; the product takes the basis of the speedup."""
        return SpeedEstimate(
            estimate=self.estimate * ratio.estimate,
            low=self.low * ratio.low,
            high=self.high * ratio.high,
            basis=ratio.basis,
            assumes=tuple(dict.fromkeys((*self.assumes, *ratio.assumes))),
        )


class MachineSpeed(msgspec.Struct, frozen=True, kw_only=True):
    """The bandwidths in GB/s and the host's cores: what a speed needs besides the bytes read."""

    device_gb_per_s: float | None
    host_gb_per_s: float | None
    cores: int | None = None
    # Bandwidths that these memories reached with other models, by results of such machines.
    device_reached_gb_per_s: float | None = None
    host_reached_gb_per_s: float | None = None
    efficiency: float = EFFICIENCY  # the share of the devices' nominal rate that decoding reaches
    unified: bool = False  # the devices are graphics units that read main memory


class StepBytes(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes that a step reads on devices and host, experts listed separately, and its fixed time.

    `used` is the share of a mixture's experts that one token needs, 1 for a dense model.
    """

    device: float
    host: float
    device_experts: float = 0.0
    host_experts: float = 0.0
    used: float = 1.0
    launches_ms: float = 0.0

    @property
    def read(self) -> tuple[float, float]:
        """The bytes that a step reads on devices and in host memory."""
        device = self.device + self.device_experts * self.used
        return device, self.host + self.host_experts * self.used


@lru_cache(maxsize=4096)
def step_bytes(facts: ModelFacts, placement: LayerPlacement, setting: Setting) -> StepBytes:
    """The weights and cache that a step reads with this placement, with an eighth of the context.

    The output matrix is on a device if any layer is. A plain step reads neither the prediction head
    nor the token embedding.
    """
    filled = max(_DEPTH_TOKENS, setting.context // setting.slots // _FILLED)
    setting = replace(setting, context=filled, slots=1)
    sums, own, on_device = sums_of(facts), len(facts.layers), placement.layers > 0
    first = min(own, max(0, facts.placed_layers - placement.layers))
    stay = max(first, min(own, placement.cpu_experts))
    device = sums.dense[own] - sums.dense[first] + on_device * facts.output_bytes
    host = sums.dense[first] + (not on_device) * facts.output_bytes
    for layer, before in sums.caches:
        cache = kv_mib(layer, setting) * MIB
        device += cache * (before[own] - before[first])
        host += cache * before[first]
    launches = starts_ms(facts, min(placement.layers, len(facts.layers)))
    launches += min(placement.layers, placement.cpu_experts) * MS_PER_CROSSING
    return StepBytes(
        device=device,
        host=host,
        device_experts=sums.experts[own] - sums.experts[stay],
        host_experts=sums.experts[stay],
        used=facts.used_share,
        launches_ms=launches,
    )


def plain(load: LoadPlan, found: Projection, machine: MachineSpeed) -> SpeedEstimate:
    """Tokens per second of plain decoding, without speculation."""
    step = step_bytes(load.target, found.placement, load.setting)
    tps = plain_tps(step, machine)
    device = not step.device or machine.device_reached_gb_per_s is not None
    host = not step.host + step.host_experts or machine.host_reached_gb_per_s is not None
    if device and host:  # such results give the rate of every memory that the step reads
        low, high = tps / NEAREST_ERROR, tps * NEAREST_ERROR
        return SpeedEstimate(estimate=tps, low=low, high=high, basis="nearest")
    return SpeedEstimate(
        estimate=tps,
        low=tps * EFFICIENCY_LOW / EFFICIENCY,
        high=tps * EFFICIENCY_HIGH / EFFICIENCY,
        basis="physics",
        assumes=tuple(assumed_rates(step, machine)),
    )


def plain_tps(step: StepBytes, machine: MachineSpeed) -> float:
    """Tokens per second of plain decoding if each step reads these bytes, without an interval."""
    on_device, in_host = step.read
    device_s = on_device / (device_rate(machine) * _GB) + step.launches_ms / _MS
    return 1 / (device_s + in_host / (host_rate(machine) * _GB))


def device_rate(machine: MachineSpeed) -> float:
    """The devices' GB/s: the rate reached in results, else a share of the nominal rate."""
    assumed = ASSUMED_HOST_GB_PER_S if machine.unified else ASSUMED_GB_PER_S
    nominal = machine.device_gb_per_s or assumed
    return machine.device_reached_gb_per_s or nominal * machine.efficiency


def host_rate(machine: MachineSpeed) -> float:
    """Main memory's GB/s: the rate reached in results, else a share of the nominal rate."""
    nominal = machine.host_gb_per_s or ASSUMED_HOST_GB_PER_S
    return machine.host_reached_gb_per_s or nominal * EFFICIENCY * HOST_EFFICIENCY


@lru_cache(maxsize=512)
def weights_per_token(facts: ModelFacts) -> float:
    """The bytes of weights that one token reads from all memories."""
    layers = (layer.weight_bytes + layer.expert_bytes * facts.used_share for layer in facts.layers)
    return facts.output_bytes + sum(layers)


def starts_ms(facts: ModelFacts, layers: int) -> float:
    """Milliseconds to launch the kernels of this many layers on a device."""
    return layers * (MS_PER_LAYER + (MS_PER_CHOICE if facts.mixture else 0.0))


def assumed_rates(step: StepBytes, machine: MachineSpeed) -> Iterator[RateOf]:
    """The memories whose bandwidth a step needs and that nobody stated or measured."""
    device = machine.device_gb_per_s or machine.device_reached_gb_per_s
    host = machine.host_gb_per_s or machine.host_reached_gb_per_s
    if step.device and device is None and not machine.unified:
        yield "device"
    reads_host = step.host + step.host_experts or (machine.unified and device is None)
    if reads_host and host is None:
        yield "host"
