"""Plans a target with or without a draft on a machine: what fits, what it costs, what it gains."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from estimates.commands import drafting
from estimates.plan import alternatives
from estimates.plan.choices import Choice, Plan
from estimates.plan.commands import method_of
from estimates.plan.model import Buffers, Placement
from estimates.plan.placement import Case, Projection, fit, largest_context, project
from estimates.plan.speculation import speedup
from estimates.plan.speed import plain
from harness.errors import BadInputError
from harness.machine.engines import SERVER_PROGRAM, package_version, server_program
from harness.models.hub_protocol import Hub
from harness.plan import exact, warnings
from harness.plan.request import ComputerOptions, PlanRequest
from harness.plan.wish import Wish, wish_of, wish_of_facts


def plan(request: PlanRequest, *, say: Callable[[str], None], client: Hub | None = None) -> Plan:
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
        note = f"the engine could not simulate it ({simulated}); these are closed forms"
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
        tps = alone.tps.times(gain)
    asked = Choice(
        changes="as asked",
        case=wish.case,
        found=found,
        speculation=wish.speculation,
        tps=tps,
        target=wish.target,
        draft=wish.draft,
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
        warnings=(*warnings.of(asked, alone, gain), *wish.notes),
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
        target=wish.target,
        draft=None,
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
    """The engine's figures, for headers at hand and this machine; `None` without an engine."""
    sources = [wish.target, *([wish.draft] if wish.draft else [])]
    paths = [source.path for source in sources if source.path is not None]
    if request.computer.described or len(paths) < len(sources):
        return None
    server = _server(request.computer)
    if server is None and package_version() is None:
        return None
    placement, case = _placed(wish, wish.case).placement, wish.case
    words: tuple[str, ...] = ()
    if case.uses_head and wish.speculation is not None:
        words = tuple(drafting(method_of(wish.speculation)) or ())
    loads = [
        exact.Load(
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
        loads.append(exact.Load(path=str(paths[1]), setting=draft.setting, layers=layers))
    return exact.simulate_by_server(server, loads) if server else exact.simulate(loads)


def _server(options: ComputerOptions) -> Path | None:
    """The llama-server to ask; `None` for the binding. Raises `BadInputError`."""
    named = options.server_binary
    if named is None and options.runner != SERVER_PROGRAM and package_version() is not None:
        return None
    found = shutil.which(named) if named else server_program()
    if found is None and (named or options.runner == SERVER_PROGRAM):
        place = f"at {named}" if named else "on PATH"
        message = f"no {SERVER_PROGRAM} {place}; name the program with --server-binary"
        raise BadInputError(message)
    return Path(found) if found else None


_KINDS = (
    ("model", "kv", "recurrent", "compute"),
    ("draft_model", "draft_kv", "draft_recurrent", "draft_compute"),
)


def _corrected(found: Projection, simulated: tuple[exact.Simulated, ...], wish: Wish) -> Projection:
    """The projection with the sizes that the engine reports."""
    devices = tuple(replace(buffers) for buffers in found.devices)
    host = replace(found.host)
    host.output = sum(each.output for each in simulated)
    for each, kinds in zip(simulated, _KINDS, strict=False):
        _, kv, recurrent, compute = kinds
        if not each.on_devices:
            setattr(host, kv, each.kv)
            setattr(host, recurrent, each.recurrent)
        setattr(host, compute, each.host_compute)
        for buffers, mib in zip(devices, each.on_devices, strict=False):
            setattr(buffers, compute, mib)
        on_devices = [sizes for name, sizes in each.places.items() if name != exact.HOST]
        for buffers, sizes in zip(devices, on_devices, strict=False):
            _take(buffers, kinds, *sizes)
        if exact.HOST in each.places:
            weights, context = each.places[exact.HOST]
            _take(host, kinds, weights, context, extra=each.output)
    limits = [memory.free_mib - wish.case.margin_mib for memory in wish.case.devices]
    return replace(
        found,
        devices=devices,
        host=host,
        device_fits=all(b.total() <= x for b, x in zip(devices, limits, strict=False)),
        host_fits=host.total() <= wish.case.host.free_mib,
    )


def _take(
    buffers: Buffers, kinds: Sequence[str], weights: int, context: int, *, extra: float = 0.0
) -> None:
    """Whole MiB that the engine reports, where they are not our own figure without its decimals."""
    model, kv, recurrent, _ = kinds
    if int(getattr(buffers, model)) != weights:
        setattr(buffers, model, float(weights))
    state = getattr(buffers, recurrent) + extra
    if int(getattr(buffers, kv) + state) != context:
        setattr(buffers, kv, max(0.0, context - state))
