"""Plans a target with or without a draft on a machine: what fits, what it costs, what it gains."""

from collections.abc import Callable
from dataclasses import replace

from estimates.plan import alternatives
from estimates.plan.choices import Choice, Plan
from estimates.plan.commands import server_line
from estimates.plan.model import Placement
from estimates.plan.placement import Case, Projection, fit, largest_context, project
from estimates.plan.speculation import speedup
from estimates.plan.speed import Estimate, plain
from harness.models.hub import Client
from harness.plan import exact, warnings
from harness.plan.request import PlanRequest
from harness.plan.wish import Wish, wish_of, wish_of_facts


def plan(request: PlanRequest, *, say: Callable[[str], None], client: Client | None = None) -> Plan:
    """The plan that a request asks for; nothing but headers is read.

    Raises `BadInputError` for a model that cannot be planned, `MachineError` for a hub that gives
    no header, `UsageError` for a contradictory request.
    """
    request.check()
    if request.models.facts:
        return answer(wish_of_facts(request))
    wish = wish_of(request, say, client)
    simulated = _simulated(wish, request)
    if isinstance(simulated, str):
        note = f"the installed engine could not simulate it ({simulated}); these are closed forms"
        return answer(replace(wish, notes=(*wish.notes, note)))
    return answer(wish, simulated=simulated)


def answer(wish: Wish, *, simulated: tuple[exact.Simulated, ...] | None = None) -> Plan:
    """The plan for a wish; the engine's own figures replace closed forms where there are any."""
    found = _placed(wish, wish.case)
    if simulated is not None:
        found = _corrected(found, simulated, wish)
    alone = _alone(wish)
    gain, tps = None, plain(wish.case, found, wish.speed)
    if wish.speculation is not None:
        gain = speedup(wish.case, found, alone.tps, wish.speed, wish.speculation)
        tps = _times(alone.tps, gain)
    asked = Choice(
        changes="as asked",
        case=wish.case,
        found=found,
        speculation=wish.speculation,
        tps=tps,
        command=server_line(wish.target, wish.draft, wish.case, found, wish.speculation),
    )
    return Plan(
        target=wish.name,
        drafting=wish.drafting,
        asked=asked,
        alone=alone,
        speedup=gain,
        context_max=largest_context(wish.case, found.placement),
        context_max_alone=largest_context(alone.case, alone.found.placement),
        alternatives=alternatives.of(wish.target, wish.draft, asked, alone, wish.speed),
        exact=simulated is not None,
        warnings=(*wish.notes, *warnings.of(asked, alone, gain)),
    )


def _alone(wish: Wish) -> Choice:
    """The target without speculation, with as many layers on the devices as then fit."""
    case = wish.case.without_speculation()
    found = _placed(replace(wish, layers=None, cpu_experts=None), case)
    return Choice(
        changes="no draft",
        case=case,
        found=found,
        speculation=None,
        tps=plain(case, found, wish.speed),
        command=server_line(wish.target, None, case, found, None),
    )


def _times(base: Estimate, gain: Estimate) -> Estimate:
    return Estimate(
        estimate=base.estimate * gain.estimate,
        low=base.low * gain.low,
        high=base.high * gain.high,
        basis=gain.basis,
    )


def _placed(wish: Wish, case: Case) -> Projection:
    """The projection with the asked placement, or with the most that fits."""
    best = fit(case)
    if wish.layers is None and wish.cpu_experts is None:
        return best
    whole = case.target.placed_layers
    layers = best.placement.layers if wish.layers is None else wish.layers
    layers = whole if layers < 0 else min(layers, whole)
    experts = best.placement.cpu_experts if wish.cpu_experts is None else wish.cpu_experts
    placement = Placement(
        layers=layers if case.devices else 0, cpu_experts=experts, share=best.placement.share
    )
    return project(case, placement)


def _simulated(wish: Wish, request: PlanRequest) -> tuple[exact.Simulated, ...] | str | None:
    """The engine's figures, for files on this disk and the machine at hand."""
    sources = [wish.target, *([wish.draft] if wish.draft else [])]
    paths = [source.path for source in sources if source.path is not None]
    if request.computer.described or len(paths) < len(sources):
        return None
    found = _placed(wish, wish.case)
    loads = [
        exact.Load(path=str(paths[0]), setting=wish.case.setting, layers=found.placement.layers)
    ]
    if wish.case.draft is not None:
        draft = wish.case.draft
        layers = draft.facts.placed_layers if wish.case.devices and not draft.on_host else 0
        loads.append(exact.Load(path=str(paths[1]), setting=draft.setting, layers=layers))
    return exact.simulate(loads)


def _corrected(found: Projection, simulated: tuple[exact.Simulated, ...], wish: Wish) -> Projection:
    """The projection with compute and output buffers, and host caches, as the engine says."""
    devices = tuple(replace(buffers) for buffers in found.devices)
    host = replace(found.host)
    kinds = [("compute", "kv", "recurrent"), ("draft_compute", "draft_kv", "draft_recurrent")]
    host.output = sum(each.output for each in simulated)
    for each, (compute, kv, recurrent) in zip(simulated, kinds, strict=False):
        if not each.on_devices:
            setattr(host, kv, each.kv)
            setattr(host, recurrent, each.recurrent)
        setattr(host, compute, each.host_compute)
        for buffers, mib in zip(devices, each.on_devices, strict=False):
            setattr(buffers, compute, mib)
    limits = [memory.free_mib - wish.case.margin_mib for memory in wish.case.devices]
    return replace(
        found,
        devices=devices,
        host=host,
        device_fits=all(b.total() <= x for b, x in zip(devices, limits, strict=False)),
        host_fits=host.total() <= wish.case.host.free_mib,
    )
