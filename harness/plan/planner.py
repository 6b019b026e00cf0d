"""Plan a target with or without a draft on a machine: what fits, what it costs, what it gains."""

from collections.abc import Sequence
from dataclasses import replace

from estimates.commands import drafting
from estimates.plan import alternatives
from estimates.plan.choices import Plan, PlanOption
from estimates.plan.commands import method_of
from estimates.plan.model import Buffers, LayerPlacement
from estimates.plan.placement import Case, Projection, fit, largest_context, project
from estimates.plan.speculation import speedup
from estimates.plan.speed import plain
from harness.plan import warnings
from harness.plan.inputs import PlanInputs
from harness.plan.server_fit import HOST, AllocatedSizes, ServerLoad, allocated_sizes


def plan(inputs: PlanInputs) -> Plan:
    """The plan for these inputs; a llama-server's own sizes replace closed forms."""
    sizes = _allocated(inputs)
    if isinstance(sizes, str):
        note = f"the engine could not simulate it ({sizes}); these are closed forms"
        return _answer(replace(inputs, notes=(*inputs.notes, note)), None)
    return _answer(inputs, sizes)


def _answer(inputs: PlanInputs, sizes: tuple[AllocatedSizes, ...] | None) -> Plan:
    found = _placed(inputs)
    if sizes is not None:
        found = _corrected(found, sizes, inputs.case)
    alone = _alone(inputs)
    gain, tps = None, plain(inputs.case, found, inputs.speed)
    if inputs.speculation is not None:
        gain = speedup(inputs.case, found, alone.tps, inputs.speed, inputs.speculation)
        tps = alone.tps.times(gain)
    asked = replace(
        alone,
        changes="as asked",
        case=inputs.case,
        found=found,
        speculation=inputs.speculation,
        tps=tps,
        draft=inputs.draft,
    )
    return Plan(
        target=inputs.name,
        drafting=inputs.drafting,
        asked=asked,
        alone=alone,
        speedup=gain,
        context_max=largest_context(inputs.case, found.placement),
        context_max_alone=largest_context(alone.case, alone.found.placement),
        alternatives=alternatives.of(asked, alone, inputs.speed),
        exact=sizes is not None,
        warnings=(*warnings.of(asked, alone, gain), *inputs.notes),
    )


def _alone(inputs: PlanInputs) -> PlanOption:
    """The target without speculation, with as many layers on the devices as then fit."""
    case = inputs.case.without_speculation()
    found = fit(case)
    return PlanOption(
        changes="no draft",
        case=case,
        found=found,
        speculation=None,
        tps=plain(case, found, inputs.speed),
        target=inputs.target,
        draft=None,
    )


def _placed(inputs: PlanInputs) -> Projection:
    """The projection with the asked placement, or with the most that fits."""
    case = inputs.case
    best = fit(case)
    if inputs.layers is None and inputs.cpu_experts is None:
        return best
    whole = case.target.placed_layers
    layers = best.placement.layers if inputs.layers is None else inputs.layers
    layers = whole if layers < 0 else min(layers, whole)
    experts = best.placement.cpu_experts if inputs.cpu_experts is None else inputs.cpu_experts
    placement = LayerPlacement(
        layers=layers if case.devices else 0, cpu_experts=experts, share=best.placement.share
    )
    return project(case, placement)


def _allocated(inputs: PlanInputs) -> tuple[AllocatedSizes, ...] | str | None:
    """What the server would allocate; `None` without a server, or without the models' headers."""
    sources = [inputs.target, *([inputs.draft] if inputs.draft else [])]
    paths = [source.path for source in sources if source.path is not None]
    if inputs.server is None or len(paths) < len(sources):
        return None
    placement, case = _placed(inputs).placement, inputs.case
    words: tuple[str, ...] = ()
    if case.uses_head and inputs.speculation is not None:
        words = tuple(drafting(method_of(inputs.speculation)) or ())
    loads = [
        ServerLoad(
            path=str(paths[0]),
            setting=case.setting,
            layers=placement.layers,
            cpu_experts=placement.cpu_experts,
            words=words,
        )
    ]
    if case.draft is not None:
        draft = case.draft
        layers = draft.facts.placed_layers if case.devices and not draft.on_host else 0
        loads.append(ServerLoad(path=str(paths[1]), setting=draft.setting, layers=layers))
    return allocated_sizes(inputs.server, loads)


_KINDS = (
    ("model", "kv", "recurrent", "compute"),
    ("draft_model", "draft_kv", "draft_recurrent", "draft_compute"),
)


def _corrected(found: Projection, sizes: Sequence[AllocatedSizes], case: Case) -> Projection:
    """The projection with the sizes that the engine reports."""
    devices = tuple(replace(buffers) for buffers in found.devices)
    host = replace(found.host)
    host.output = sum(each.output for each in sizes)
    for each, kinds in zip(sizes, _KINDS, strict=False):
        _, kv, recurrent, compute = kinds
        if not each.on_devices:
            setattr(host, kv, each.kv)
            setattr(host, recurrent, each.recurrent)
        setattr(host, compute, each.host_compute)
        for buffers, mib in zip(devices, each.on_devices, strict=False):
            setattr(buffers, compute, mib)
        on_devices = [mib for name, mib in each.places.items() if name != HOST]
        for buffers, (weights, context) in zip(devices, on_devices, strict=False):
            _take(buffers, kinds, weights, context)
        if HOST in each.places:
            weights, context = each.places[HOST]
            _take(host, kinds, weights, context, extra=each.output)
    limits = [memory.free_mib - case.margin_mib for memory in case.devices]
    return replace(
        found,
        devices=devices,
        host=host,
        device_fits=all(b.total() <= x for b, x in zip(devices, limits, strict=False)),
        host_fits=host.total() <= case.host.free_mib,
    )


def _take(
    buffers: Buffers, kinds: Sequence[str], weights: int, context: int, *, extra: float = 0.0
) -> None:
    """Take whole MiB from the server, unless they are our own figure without its decimals."""
    model, kv, recurrent, _ = kinds
    if int(getattr(buffers, model)) != weights:
        setattr(buffers, model, float(weights))
    state = getattr(buffers, recurrent) + extra
    if int(getattr(buffers, kv) + state) != context:
        setattr(buffers, kv, max(0.0, context - state))
