"""Report on a failed allocation: the memory that it needed, and the options that would fit."""

from collections.abc import Iterator

from msgspec.structs import replace

from answers.model import KIND_LABELS, Buffers, LayerPlacement, Memory
from answers.placement import LoadPlan, fit, largest_context, project


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
