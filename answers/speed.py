"""Predicts tokens per second: what a step must read, over the bandwidths that it is read with.

A step takes the bytes on the devices over their bandwidth plus the bytes in host memory over the
host's, each times an efficiency (Williams, Waterman and Patterson 2009, Roofline). What results of
the same machine reached replaces the efficiencies.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from answers.measured import MeasuredSetting
from answers.memory import kv_mib
from answers.model import MIB, LayerPlacement, ModelFacts
from answers.placement import LoadPlan, Projection

Basis = Literal["nearest", "physics"]

# Shares of the nominal bandwidth that plain decoding reached in public measurements.
EFFICIENCY_LOW, EFFICIENCY, EFFICIENCY_HIGH = 0.51, 0.62, 0.81
# Processors reach less of theirs: 0.53 in the published run of a 27B model in DDR5-4800.
HOST_EFFICIENCY = 0.5 / 0.62
# With results of the same device and other models; the aim for four in five predictions.
NEAREST_ERROR = 1.25
# Assumed: cost of each further token of a step on a graphics card, in plain steps, and what a core
# computes.
_WIDER_DEVICE = 0.06
_GFLOPS_PER_CORE = 100.0
_DEFAULT_CORES = 8
MS_PER_LAYER = 0.02  # starting the kernels of a layer
MS_PER_CHOICE = 0.05  # assumed: choosing experts and starting theirs, a layer
# To the host and back, for a layer whose experts are there: 35B-A3B with the experts of 34 layers
# in main memory ran at 26.5 tokens/s on an RTX 3060 in a public log.
MS_PER_CROSSING = 0.3
ASSUMED_GB_PER_S, ASSUMED_HOST_GB_PER_S = 400.0, 50.0
_DEPTH_TOKENS = 512  # how far into the text speeds are stated
_GB = 1e9
_MS = 1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedEstimate:
    """A figure with its interval and basis.

    `assumes` lists what nobody measured or stated (a bandwidth, the acceptance of drafts), in the
    words that are printed. `loses`: it was measured there, and is not worth it.
    """

    estimate: float
    low: float
    high: float
    basis: Basis
    assumes: tuple[str, ...] = ()
    loses: bool = False

    def times(self, ratio: "SpeedEstimate") -> "SpeedEstimate":
        """Multiply by a ratio, which decides what the product rests on."""
        return SpeedEstimate(
            estimate=self.estimate * ratio.estimate,
            low=self.low * ratio.low,
            high=self.high * ratio.high,
            basis=ratio.basis,
            assumes=tuple(dict.fromkeys((*self.assumes, *ratio.assumes))),
            loses=ratio.loses,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineSpeed:
    """What decides speed apart from the memories: bandwidths in GB/s, and cores of the host."""

    device_gb_per_s: float | None
    host_gb_per_s: float | None
    cores: int | None = None
    # What these memories reached with other models, by results of such machines.
    device_reached_gb_per_s: float | None = None
    host_reached_gb_per_s: float | None = None
    measured: tuple[MeasuredSetting, ...] = ()  # of the target that is planned


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTime:
    """Milliseconds that a plain step spends on weights on devices and in host memory."""

    device_ms: float
    host_ms: float

    @property
    def total_ms(self) -> float:
        return self.device_ms + self.host_ms


def plain(case: LoadPlan, found: Projection, machine: MachineSpeed) -> SpeedEstimate:
    """Tokens per second without speculation."""
    tps = _MS / reading(case, found.placement, machine).total_ms
    device = not found.placement.layers or machine.device_reached_gb_per_s is not None
    host = (
        not _reads_host(found.placement, case.target) or machine.host_reached_gb_per_s is not None
    )
    if device and host:  # results of such machines give the rate of every memory that is read
        low, high = tps / NEAREST_ERROR, tps * NEAREST_ERROR
        return SpeedEstimate(estimate=tps, low=low, high=high, basis="nearest")
    return SpeedEstimate(
        estimate=tps,
        low=tps * EFFICIENCY_LOW / EFFICIENCY,
        high=tps * EFFICIENCY_HIGH / EFFICIENCY,
        basis="physics",
        assumes=tuple(_assumed(found.placement, case.target, machine)),
    )


def step_ms(case: LoadPlan, placement: LayerPlacement, machine: MachineSpeed, tokens: int) -> float:
    """Milliseconds of one step of the target over so many tokens."""
    read = reading(case, placement, machine, tokens=tokens)
    device = read.device_ms * (1 + _WIDER_DEVICE * (tokens - 1))
    _, in_host = bytes_per_step(case.target, placement, 1)
    weights = in_host * 8 / 5  # about how many a token uses there, at 5 bits each
    gflops = _GFLOPS_PER_CORE * (machine.cores or _DEFAULT_CORES)
    host = read.host_ms + (tokens - 1) * weights * 2 / (gflops * 1e6)
    return device + host


def _assumed(placement: LayerPlacement, facts: ModelFacts, machine: MachineSpeed) -> Iterator[str]:
    """The bandwidths that are needed and unknown."""
    device = machine.device_gb_per_s or machine.device_reached_gb_per_s
    host = machine.host_gb_per_s or machine.host_reached_gb_per_s
    if placement.layers and device is None:
        yield f"{ASSUMED_GB_PER_S:g} GB/s"
    if _reads_host(placement, facts) and host is None:
        yield f"{ASSUMED_HOST_GB_PER_S:g} GB/s of main memory"


def _reads_host(placement: LayerPlacement, facts: ModelFacts) -> bool:
    return placement.layers < facts.placed_layers or placement.cpu_experts > 0


def reading(
    case: LoadPlan,
    placement: LayerPlacement,
    machine: MachineSpeed,
    *,
    tokens: int = 1,
) -> StepTime:
    """The time of a step over so many tokens."""
    facts = case.target
    device, host = bytes_per_step(facts, placement, tokens)
    setting = replace(case.setting, context=_DEPTH_TOKENS, slots=1)
    for index, layer in enumerate(facts.layers):
        cache = kv_mib((layer,), setting) * MIB
        if _on_device(index, facts, placement):
            device += cache
        else:
            host += cache
    launches = starts_ms(facts, min(placement.layers, len(facts.layers)))
    fast = (machine.device_gb_per_s or ASSUMED_GB_PER_S) * EFFICIENCY
    slow = (machine.host_gb_per_s or ASSUMED_HOST_GB_PER_S) * EFFICIENCY * HOST_EFFICIENCY
    fast = (machine.device_reached_gb_per_s or fast) * _GB
    slow = (machine.host_reached_gb_per_s or slow) * _GB
    launches += min(placement.layers, placement.cpu_experts) * MS_PER_CROSSING
    return StepTime(device_ms=device / fast * _MS + launches, host_ms=host / slow * _MS)


def starts_ms(facts: ModelFacts, layers: int) -> float:
    """What the kernels of so many layers on a device take to start."""
    return layers * (MS_PER_LAYER + (MS_PER_CHOICE if facts.mixture else 0.0))


def bytes_per_step(
    facts: ModelFacts, placement: LayerPlacement, tokens: int
) -> tuple[float, float]:
    """Bytes that a step reads on devices and in host memory; experts as far as tokens need them."""
    share = touched_share(facts, tokens)
    device, host = (facts.output_bytes, 0.0) if placement.layers else (0.0, facts.output_bytes)
    for index, layer in enumerate(facts.layers):
        on_device = _on_device(index, facts, placement)
        experts = layer.expert_bytes * share
        device += layer.weight_bytes if on_device else 0.0
        host += 0.0 if on_device else layer.weight_bytes
        if on_device and index >= placement.cpu_experts:
            device += experts
        else:
            host += experts
    return device, host


def touched_share(facts: ModelFacts, tokens: int) -> float:
    """The share of a mixture's experts that a step of so many tokens reads."""
    if not facts.mixture:
        return 1.0
    untouched: float = (1 - facts.experts_used / facts.experts) ** tokens
    return 1 - untouched


def _on_device(index: int, facts: ModelFacts, placement: LayerPlacement) -> bool:
    return index >= len(facts.all_layers) + 1 - placement.layers
