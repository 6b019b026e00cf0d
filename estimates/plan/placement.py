"""How many layers of a model fit on the devices with its draft, and how long contexts get."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from estimates.plan.memory import place
from estimates.plan.model import Buffers, Facts, LayerPlacement, Memory, Setting

# What llama.cpp's `--fit-target` keeps free on each device.
DEFAULT_MARGIN_MIB = 1024.0
# What drivers and desktop take of a card's memory: 5 % and 700 MiB come within 800 MiB of the free
# memory that eight public logs state for cards of 6 to 32 GB.
TAKEN_SHARE, TAKEN_MIB = 0.05, 700.0
# The system and other programs need this much of main memory.
SYSTEM_MIB = 2048.0
CONTEXT_STEP = 256
LONGEST_CONTEXT = 1 << 21


def free_of(total_mib: float) -> float:
    """About what a card of this size has free before a model is loaded."""
    return max(0.0, total_mib * (1 - TAKEN_SHARE) - TAKEN_MIB)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A second model that drafts. `on_host` keeps it off the devices."""

    facts: Facts
    setting: Setting
    on_host: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Everything that has to be loaded, and the memories it may go to."""

    target: Facts
    setting: Setting
    devices: tuple[Memory, ...]
    host: Memory
    draft: Draft | None = None
    uses_head: bool = False
    projector_mib: float = 0.0
    margin_mib: float = DEFAULT_MARGIN_MIB

    def without_speculation(self) -> "Case":
        """The same target alone, which keeps no states to undo rejected tokens."""
        setting = replace(self.setting, rollback_states=0, outputs=1)
        return replace(self, draft=None, uses_head=False, setting=setting)


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """The buffers that a placement leads to, and whether they fit where they lie."""

    placement: LayerPlacement
    devices: tuple[Buffers, ...]
    host: Buffers
    device_fits: bool
    host_fits: bool

    @property
    def fits(self) -> bool:
        """Whether every place has room."""
        return self.device_fits and self.host_fits


def project(case: Case, placement: LayerPlacement) -> Projection:
    """The buffers of target and draft with this placement of the target."""
    devices, host = place(case.target, case.setting, placement, speculates_with_head=case.uses_head)
    if case.draft is not None:
        _add_draft(case, case.draft, devices, host)
    if case.projector_mib:
        (devices[0] if case.devices else host).projector += case.projector_mib
    limits = tuple(memory.free_mib - case.margin_mib for memory in case.devices)
    device_fits = all(
        buffers.total() <= limit for buffers, limit in zip(devices, limits, strict=False)
    )
    return Projection(
        placement=placement,
        devices=devices,
        host=host,
        device_fits=device_fits or not case.devices,
        host_fits=host.total() <= case.host.free_mib,
    )


def fit(case: Case) -> Projection:
    """The placement with the most on the devices that fits; host only where nothing does.

    Of a mixture of experts the experts of the first layers go to the host before any layer does,
    because a token reads few of them.
    """
    share = tuple(max(1.0, memory.free_mib - case.margin_mib) for memory in case.devices) or (1.0,)
    whole = case.target.placed_layers if case.devices else 0
    if case.target.mixture and case.devices:
        mixture = _fewest_experts(case, whole, share)
        if mixture.device_fits:
            return mixture
    experts = len(case.target.all_layers) if case.target.mixture else 0
    return _most_layers(case, whole, experts, share)


def _fewest_experts(case: Case, whole: int, share: tuple[float, ...]) -> Projection:
    """All layers on the devices, and the experts of as few layers as possible on the host."""
    best = project(case, LayerPlacement(layers=whole, share=share))
    least, most = 1, len(case.target.all_layers)
    while not best.device_fits and least < most:
        middle = (least + most) // 2
        if project(case, LayerPlacement(layers=whole, cpu_experts=middle, share=share)).device_fits:
            most = middle
        else:
            least = middle + 1
    if best.device_fits:
        return best
    return project(case, LayerPlacement(layers=whole, cpu_experts=most, share=share))


def _most_layers(case: Case, whole: int, experts: int, share: tuple[float, ...]) -> Projection:
    """The most layers that fit, by halving: more layers never take less of a device."""
    least, most = 0, whole
    best = project(case, LayerPlacement(layers=0, cpu_experts=experts, share=share))
    while least < most:
        middle = (least + most + 1) // 2
        found = project(case, LayerPlacement(layers=middle, cpu_experts=experts, share=share))
        if found.device_fits:
            least, best = middle, found
        else:
            most = middle - 1
    return best


def largest_context(case: Case, placement: LayerPlacement) -> int | None:
    """The most tokens of context with this placement; `None` if not even the shortest fits."""
    trained = case.target.context_tokens or LONGEST_CONTEXT
    low, high = 0, max(1, trained // CONTEXT_STEP)
    while low < high:
        middle = (low + high + 1) // 2
        if project(_with_context(case, middle * CONTEXT_STEP), placement).fits:
            low = middle
        else:
            high = middle - 1
    return low * CONTEXT_STEP or None


def _with_context(case: Case, tokens: int) -> Case:
    draft = case.draft
    if draft is not None:
        draft = replace(draft, setting=replace(draft.setting, context=tokens))
    return replace(case, setting=replace(case.setting, context=tokens), draft=draft)


def _add_draft(case: Case, draft: Draft, devices: Sequence[Buffers], host: Buffers) -> None:
    """A draft lies on the first device as a whole, or in host memory."""
    on_host = draft.on_host or not case.devices
    layers = 0 if on_host else draft.facts.placed_layers
    placed, rest = place(draft.facts, draft.setting, LayerPlacement(layers=layers))
    devices[0].add(placed[0], as_draft=True)
    host.add(rest, as_draft=True)
