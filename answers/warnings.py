"""Write the warnings of a plan, and the report on a failed allocation."""

from collections.abc import Iterator

from msgspec.structs import replace

from answers.choices import PlanOption
from answers.model import KIND_LABELS, Buffers, LayerPlacement, Memory
from answers.placement import LoadPlan, fit, largest_context, project
from answers.speed import SpeedEstimate
from schemas.vocabulary import say

SLOWER = "expect it to be slower than no draft"
_WIDE_BATCH = 32
_ABOUT_EVEN = 0.99


def warnings_for(
    asked: PlanOption, alone: PlanOption, gain: SpeedEstimate | None
) -> tuple[str, ...]:
    """The warnings about an option, the most important first."""
    return (
        *_room(asked),
        *_displaced(asked, alone),
        *_states(asked, alone),
        *_speed(asked, gain),
    )


def _room(asked: PlanOption) -> Iterator[str]:
    case, found = asked.case, asked.found
    for memory, need in zip((*case.devices, case.host), found.needs, strict=True):
        if need > memory.free_mib:
            name = "main memory" if memory is case.host else memory.name
            end = "" if found.fits else "; the plan does not fit"
            yield (
                f"{name}: {need:.0f} MiB needed, including a margin, but {memory.free_mib:.0f} "
                f"MiB free{end}"
            )


def _displaced(asked: PlanOption, alone: PlanOption) -> Iterator[str]:
    """The warnings that speculation moves the target's layers or experts off the devices."""
    with_draft, without = asked.found.placement, alone.found.placement
    moved = without.layers - with_draft.layers
    extra = sum(
        mib
        for buffers in asked.found.devices
        for kind, mib in buffers.by_kind().items()
        if kind.startswith("draft_")
    )
    if moved > 0 and asked.speculation is not None:
        yield (
            f"speculation moves {say.count(moved, 'layer')} of the target to main memory "
            f"({with_draft.layers} of {asked.case.target.placed_layers} on the devices, "
            f"{without.layers} without speculation; the draft takes {extra:.0f} MiB)"
        )
    experts = with_draft.cpu_experts - without.cpu_experts
    if experts > 0 and asked.speculation is not None:
        yield f"speculation moves the experts of {say.count(experts, 'more layer')} to main memory"


def _states(asked: PlanOption, alone: PlanOption) -> Iterator[str]:
    copies = asked.case.setting.rollback_states
    if copies:
        now = sum(b.recurrent for b in (*asked.found.devices, asked.found.host))
        before = sum(b.recurrent for b in (*alone.found.devices, alone.found.host))
        slots = asked.case.setting.slots
        fewer = f"; a single slot needs {now / slots:.0f} MiB" if slots > 1 else ""
        yield (
            f"speculation keeps {copies} more copies of the recurrent state for each of "
            f"{say.count(slots, 'slot')}: {now:.0f} MiB instead of {before:.0f} MiB{fewer}"
        )
    elif asked.speculation is not None and asked.case.target.recurrent:
        yield (
            "the target keeps a recurrent state, so after a rejection the engine returns to a "
            "checkpoint and reads the accepted tokens again, which can cost as much as a whole "
            "step"
        )


def _speed(asked: PlanOption, gain: SpeedEstimate | None) -> Iterator[str]:
    host_layers = asked.case.target.placed_layers - asked.found.placement.layers
    wide = asked.speculation is not None and asked.speculation.depth + 1 >= _WIDE_BATCH
    if wide and host_layers and asked.found.placement.layers:
        yield (
            f"with steps of {_WIDE_BATCH} or more tokens, the engine uploads the layers in main "
            "memory to the device in every round"
        )
    if gain is not None and gain.estimate < _ABOUT_EVEN:
        yield (
            f"{SLOWER}: {say.times(gain.estimate)} "
            f"({say.times(gain.low)} to {say.times(gain.high)})"
        )


def after_failure(case: LoadPlan, placement: LayerPlacement) -> Iterator[str]:
    """Lines on the memory that a failed allocation needed, and on options that would fit."""
    found = project(replace(case, margin_mib=0.0), placement)
    places = [*zip(case.devices, found.devices, strict=False), (case.host, found.host)]
    yield from (_needed(memory, buffers) for memory, buffers in places if buffers.total())
    options = list(_fitting(case, placement))
    if options:
        yield f"according to the plan, these options fit: {'; or '.join(options)}"
    elif fit(case, certain=True).sure:
        yield "according to the plan, the run fits: check which other programs use memory"
    else:
        yield "no option makes the run fit: use a smaller quantisation or another model"


def _needed(memory: Memory, buffers: Buffers) -> str:
    need = buffers.total()
    parts = [
        f"{KIND_LABELS[kind]} {mib:,.0f}" for kind, mib in buffers.by_kind().items() if mib >= 1
    ]
    over = f"{need - memory.free_mib:,.0f} MiB too much" if need > memory.free_mib else "enough"
    return (
        f"{memory.name}: planned {need:,.0f} MiB ({', '.join(parts)}), free "
        f"{memory.free_mib:,.0f}: {over}"
    )


def _fitting(case: LoadPlan, placement: LayerPlacement) -> Iterator[str]:
    """Options for `run` that make the plan fit, the smallest change first."""
    if project(case, placement).sure:
        return
    setting = case.setting
    eighth = replace(case, setting=replace(setting, kv_k="q8_0", kv_v="q8_0"))
    if setting.kv_k == "f16" and project(eighth, placement).sure:
        yield "--cache-type-k q8_0 --cache-type-v q8_0"
    longest = largest_context(case, placement)
    if longest is not None and longest < setting.context:
        yield f"--context {longest}"
    yield from _placed_elsewhere(case, placement)
    if case.draft is not None and project(case.without_speculation(), placement).sure:
        yield "no draft"


def _placed_elsewhere(case: LoadPlan, placement: LayerPlacement) -> Iterator[str]:
    """Options for `run` that keep the draft, or some layers or experts, in main memory."""
    draft, best = case.draft, fit(case, certain=True)
    if draft is not None and case.devices and not draft.on_host:
        on_host = replace(case, draft=replace(draft, on_host=True))
        if project(on_host, placement).sure:
            yield "--draft-gpu-layers 0"
    if not best.sure:
        return
    layers, experts = best.placement.layers, best.placement.cpu_experts
    words = [f"--gpu-layers {layers}"] if layers < placement.layers else []
    words += [f"--n-cpu-moe {experts}"] if experts > placement.cpu_experts else []
    if words:
        yield " ".join(words)
