"""Compute the number of a model's layers that fit on the devices, and the longest context."""

from bisect import bisect_left
from collections.abc import Callable
from functools import cache
from math import hypot
from operator import le
from typing import Literal

import msgspec
from msgspec.structs import replace

from planner.memory import RUNTIME_MIB, Placed, place
from planner.model import Buffers, LayerPlacement, Memory, ModelFacts, Setting

# The memory that llama.cpp's `--fit-target` keeps free on each device.
DEFAULT_MARGIN_MIB = 1024.0
# The part of a card's memory that drivers and the desktop take. With 5 % plus 700 MiB, the computed
# free memory is within 800 MiB of the real one in eight public logs, of cards of 6 to 32 GB.
TAKEN_SHARE, TAKEN_MIB, FREE_ERROR_MIB = 0.05, 700.0, 800.0
# Main memory that the system and other programs need.
SYSTEM_MIB = 2048.0
SHARED_SHARE = 0.75  # the share of main memory that systems allow a graphics unit
CONTEXT_STEP = 1024
LONGEST_CONTEXT = 1 << 18  # for a model whose longest context is unknown
# How much of a model a machine holds, as printed: all layers on the devices (in main memory if
# there is no device) with a margin or perhaps, some layers or experts in main memory, or too little
# memory even for that.
Extent = Literal["yes", "barely", "partly", "no"]


def free_of(total_mib: float) -> float:
    """The approximate free memory of a card of this size before a model is loaded."""
    return max(0.0, total_mib * (1 - TAKEN_SHARE) - TAKEN_MIB)


class LoadPlan(msgspec.Struct, frozen=True, kw_only=True):
    """All models that have to be loaded, and the memories that may hold them.

    `draft` is a separate draft model, which `draft_on_host` keeps off the devices.
    """

    target: ModelFacts
    setting: Setting
    devices: tuple[Memory, ...]
    host: Memory
    draft: ModelFacts | None = None
    draft_on_host: bool = False
    uses_head: bool = False
    margin_mib: float = DEFAULT_MARGIN_MIB
    unified: bool = False  # buffers on devices take host memory, too

    @property
    def draft_layers(self) -> int:
        """The number of draft layers on the devices: all or none."""
        if self.draft is None or self.draft_on_host or not self.devices:
            return 0
        return self.draft.placed_layers

    def without_speculation(self) -> "LoadPlan":
        """The same plan without a draft, and without the states that undo rejected tokens."""
        if not (self.draft or self.uses_head or self.setting.rollback_states):
            return self
        setting = replace(self.setting, rollback_states=0)
        return replace(self, draft=None, uses_head=False, setting=setting)


class Projection(msgspec.Struct, frozen=True, kw_only=True):
    """A placement's buffers, and the most and the least memory that they may need.

    `needs`, `least` and `free` are in MiB, by device and then for the host. If the `needs` are
    free, the plan is certain to fit. If only `least` is, it fits if other programs are closed or
    the estimates are too high.
    """

    placement: LayerPlacement
    whole: bool  # the whole target is on the devices, or there is no device
    devices: tuple[Buffers, ...]
    host: Buffers
    needs: tuple[float, ...]
    least: tuple[float, ...]
    free: tuple[float, ...]

    @property
    def sure_on_devices(self) -> bool:
        return all(map(le, self.needs[:-1], self.free[:-1]))

    @property
    def sure(self) -> bool:
        """Whether it fits with all margins into the memory that is usually free."""
        return all(map(le, self.needs, self.free))

    @property
    def fits(self) -> bool:
        """Whether it may fit; see `chance`."""
        return all(map(le, self.least, self.free))

    @property
    def fits_whole(self) -> bool:
        return self.fits and self.whole

    @property
    def chance(self) -> float:
        """The chance that it fits: it rises evenly from 0 at `least` to 1 at `needs`."""
        memories = zip(self.least, self.needs, self.free, strict=True)
        shares = ((free - low) / max(1.0, high - low) for low, high, free in memories)
        return max(0.0, min(1.0, *shares))

    @property
    def extent(self) -> Extent:
        """Whether the plan fits: with the whole target on devices, with a part of it, or not."""
        if not self.fits:
            return "no"
        if not self.whole:
            return "partly"
        return "yes" if self.sure else "barely"


def project(case: LoadPlan, placement: LayerPlacement) -> Projection:
    """The buffers of target and draft with this placement of the target."""
    return merge_placements(case, placement, _target(case, placement), _draft(case))


def _target(case: LoadPlan, placement: LayerPlacement) -> Placed:
    return place(case.target, case.setting, placement, speculates_with_head=case.uses_head)


def _draft(case: LoadPlan) -> Placed | None:
    """The draft's buffers, all on the first device or on the host; `None` without a draft.

    The draft has the target's settings, but an f16 cache and no state copies.
    """
    if case.draft is None:
        return None
    setting = replace(case.setting, rollback_states=0, kv_k="f16", kv_v="f16")
    return place(case.draft, setting, LayerPlacement(layers=case.draft_layers))


def merge_placements(
    case: LoadPlan, placement: LayerPlacement, target: Placed, draft: Placed | None
) -> Projection:
    """Combine the buffers of a target and a draft that were placed separately."""
    devices, host = target
    if draft is not None:
        devices, host = (
            (devices[0].with_draft(draft[0][0]), *devices[1:]),
            host.with_draft(draft[1]),
        )
    # Without devices, the plan still has one entry for them, which needs no memory.
    ranges = [_range(case, *each) for each in zip(devices, case.devices, strict=False)]
    shared = sum(each.total() for each in devices) if case.unified else 0.0
    least, most = _range(case, host, case.host)
    ranges.append((least + shared, most + shared))
    on_devices = placement.layers == case.target.placed_layers and not placement.cpu_experts
    return Projection(
        placement=placement,
        whole=on_devices or not case.devices,
        devices=devices,
        host=host,
        least=tuple([low for low, _ in ranges]),
        needs=tuple([high for _, high in ranges]),
        free=(*[memory.free_mib for memory in case.devices], case.host.free_mib),
    )


def _range(case: LoadPlan, buffers: Buffers, memory: Memory) -> tuple[float, float]:
    """The least and the most MiB that these buffers need of a memory's usual free size.

    The runtime takes some of a device. Weights without a file and free memory are known to within
    their errors, and at least a margin stays free. `bench.plan` checks it against public logs.
    """
    total, on_host = buffers.total(), memory is case.host
    if not total:
        return 0.0, 0.0
    runtime, margin = (0.0, 0.0) if on_host else (RUNTIME_MIB, case.margin_mib)
    weights = (case.target.weights_error or 0.0) * buffers.model
    if case.draft:
        weights += (case.draft.weights_error or 0.0) * buffers.draft_model
    # The errors of weights and of free memory are independent of each other.
    error = hypot(weights, FREE_ERROR_MIB if memory.estimated else 0.0)
    return total + runtime - error, total + max(margin, runtime + error)


def fit(case: LoadPlan, *, certain: bool = False) -> Projection:
    """The whole target on the devices if it may fit there, else what is certain to fit.

    Of that, the placement puts the most on the devices, and all in host memory if nothing fits. If
    `certain`, nothing else counts. For a mixture, the experts of the
    first layers move to the host before any whole layer does, because a token reads few of them.
    """
    share = _share(case)
    whole = case.target.placed_layers if case.devices else 0
    experts = len(case.target.all_layers) if case.target.mixture else 0
    draft = _draft(case)

    @cache
    def at(layers: int, cpu_experts: int) -> Projection:
        placement = LayerPlacement(layers=layers, cpu_experts=cpu_experts, share=share)
        return merge_placements(case, placement, _target(case, placement), draft)

    if not case.devices:
        return at(0, experts)
    best = at(whole, 0)
    if best.sure_on_devices or (best.fits and not certain):
        return best
    if experts:
        on_devices = _most(experts - 1, lambda n: at(whole, experts - n).sure_on_devices)
        best = at(whole, experts - on_devices)
        if best.sure_on_devices:
            return best
    return at(_most(whole, lambda n: at(n, experts).sure_on_devices), experts)


def placed_whole(case: LoadPlan) -> Projection:
    """The plan with the whole target on the devices, whether it fits or not."""
    layers = case.target.placed_layers if case.devices else 0
    return project(case, LayerPlacement(layers=layers, share=_share(case)))


def _share(case: LoadPlan) -> tuple[float, ...]:
    if len(case.devices) < 2:  # noqa: PLR2004 - nothing is divided
        return (1.0,)
    return tuple(max(1.0, memory.free_mib - case.margin_mib) for memory in case.devices)


def largest_context(case: LoadPlan, placement: LayerPlacement) -> int | None:
    """The longest context in tokens that is certain to fit with this placement, or `None`."""

    def fits(steps: int) -> bool:
        setting = replace(case.setting, context=steps * CONTEXT_STEP)
        return project(replace(case, setting=setting), placement).sure

    trained = case.target.context_tokens or LONGEST_CONTEXT
    steps = _most(max(1, trained // CONTEXT_STEP), fits)
    return steps * CONTEXT_STEP or None


def _most(limit: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to `limit` that fits, found by bisection; 0 if even 1 does not fit."""
    if fits(limit):
        return limit
    if not fits(1):
        return 0
    return bisect_left(range(1, limit), x=True, key=lambda n: not fits(n))
