"""Plans a target with or without a draft on a machine: what fits, what it costs, what it gains."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from estimates.plan.model import MIB, Memory, Placement, Setting
from estimates.plan.placement import Case, Draft, Projection, fit, largest_context, project
from estimates.plan.speculation import Speculation, Way, speedup
from estimates.plan.speed import Estimate, Machine, plain
from harness.errors import BadInputError
from harness.models.hub import Client
from harness.plan import alternatives, exact, points, warnings
from harness.plan.commands import server_line
from harness.plan.computer import Computer, computer_of
from harness.plan.model import Choice, Plan
from harness.plan.request import PlanRequest
from harness.plan.sources import Source, find

_NO_LIMIT_MIB = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is to be planned, resolved to facts. `layers` is a placement that was asked for."""

    name: str
    drafting: str | None
    target: Source
    draft: Source | None
    speculation: Speculation | None
    case: Case
    speed: Machine
    layers: int | None
    cpu_experts: int | None
    notes: tuple[str, ...] = ()


def plan(request: PlanRequest, *, say: Callable[[str], None], client: Client | None = None) -> Plan:
    """The plan that a request asks for; nothing but headers is read.

    Raises `BadInputError` for a model that cannot be planned, `MachineError` for a hub that gives
    no header, `UsageError` for a contradictory request.
    """
    request.check()
    if request.models.facts:
        return answer(_wish_of_facts(request))
    wish = _wish(request, say, client)
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
    alone_case = wish.case.without_speculation()
    alone_found = _placed(replace(wish, layers=None, cpu_experts=None), alone_case)
    base = plain(alone_case, alone_found, wish.speed)
    alone = Choice(
        changes="no draft",
        case=alone_case,
        found=alone_found,
        speculation=None,
        tps=base,
        command=server_line(wish.target, None, alone_case, alone_found, None),
    )
    gain = None
    tps = plain(wish.case, found, wish.speed)
    if wish.speculation is not None:
        gain = speedup(wish.case, found, base, wish.speed, wish.speculation)
        tps = _times(base, gain)
    asked = Choice(
        changes="as asked",
        case=wish.case,
        found=found,
        speculation=wish.speculation,
        tps=tps,
        command=server_line(wish.target, wish.draft, wish.case, found, wish.speculation),
    )
    others = alternatives.of(wish.target, wish.draft, asked, alone, wish.speed)
    return Plan(
        target=wish.name,
        drafting=wish.drafting,
        asked=asked,
        alone=alone,
        speedup=gain,
        context_max=largest_context(wish.case, found.placement),
        context_max_alone=largest_context(alone_case, alone_found.placement),
        alternatives=others,
        exact=simulated is not None,
        warnings=(*wish.notes, *warnings.of(asked, alone, gain)),
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


def _wish(request: PlanRequest, say: Callable[[str], None], client: Client | None) -> Wish:
    load, models = request.load, request.models
    target = find(models.target or "", say=say, client=client)
    computer = computer_of(request.computer)
    way = _way(models.draft, models.draft_kind)
    draft = None
    if models.draft is not None and way not in ("mtp", "ngram"):
        draft = find(models.draft, say=say, client=client)
    if way == "mtp" and not target.facts.draft_layers:
        message = f"{models.target} has no built-in prediction head, so --draft mtp cannot draft"
        raise BadInputError(message)
    setting = Setting(
        context=load.context,
        slots=load.slots,
        kv_k=load.kv_type,
        kv_v=load.kv_type,
        ubatch=load.ubatch,
        flash_attention=load.flash_attention,
        rollback_states=_rollback(target, way, load.depth),
    )
    on_host = load.draft_gpu_layers == 0
    case = Case(
        target=target.facts,
        setting=setting,
        devices=computer.devices,
        host=computer.host,
        draft=_draft(draft, setting, on_host=on_host),
        uses_head=way == "mtp",
        projector_mib=_projector_mib(models.projector),
        margin_mib=float(load.margin),
    )
    return Wish(
        name=models.target or "",
        drafting=models.draft if way is not None else None,
        target=target,
        draft=draft,
        speculation=_speculation(way, request, draft, on_host=on_host),
        case=case,
        speed=replace(computer.speed, anchors=request.speed.anchors),
        layers=load.gpu_layers,
        cpu_experts=load.cpu_experts,
        notes=_notes(target, draft, computer),
    )


def _wish_of_facts(request: PlanRequest) -> Wish:
    path = request.models.facts
    point = points.read_point(path) if path else points.point_of({})
    computer = computer_of(request.computer)
    described = request.computer.described
    devices = computer.devices if described else point.devices
    host = computer.host if described else Memory(name="host", free_mib=_NO_LIMIT_MIB)
    notes = (
        []
        if point.facts.weights_known
        else [
            f"nothing tells the size of {point.facts.name}'s weights; they are estimated as Q4_K_M"
        ]
    )
    way: Way | None = "mtp" if point.uses_head else None
    return Wish(
        name=point.name,
        drafting=way,
        target=Source(facts=point.facts, path=None, server_name=f"-m {point.name}.gguf"),
        draft=None,
        speculation=_speculation(way, request, None, on_host=False),
        case=Case(
            target=point.facts,
            setting=point.setting,
            devices=devices,
            host=host,
            uses_head=point.uses_head,
            margin_mib=float(request.load.margin),
        ),
        speed=Machine(
            device_gb_per_s=points.bandwidth_of_devices(devices),
            host_gb_per_s=host.bandwidth_gb_per_s,
            anchors=request.speed.anchors,
        ),
        layers=None if described else point.layers,
        cpu_experts=None,
        notes=tuple(notes),
    )


def _way(draft: str | None, kind: str) -> Way | None:
    if draft is None or draft.lower() == "none":
        return None
    known: dict[str, Way] = {"mtp": "mtp", "ngram": "ngram", "eagle3": "eagle3", "dflash": "dflash"}
    return known.get(draft.lower()) or known.get(kind, "draft-model")


def _rollback(target: Source, way: Way | None, depth: int) -> int:
    """States that newer llama.cpp keeps to undo rejected tokens of these ways of drafting."""
    return depth if target.facts.recurrent and way in ("mtp", "eagle3", "dflash") else 0


def _draft(draft: Source | None, setting: Setting, *, on_host: bool) -> Draft | None:
    if draft is None:
        return None
    return Draft(
        facts=draft.facts,
        setting=replace(setting, rollback_states=0, kv_k="f16", kv_v="f16"),
        on_host=on_host,
    )


def _speculation(
    way: Way | None, request: PlanRequest, draft: Source | None, *, on_host: bool
) -> Speculation | None:
    if way is None:
        return None
    return Speculation(
        way=way,
        depth=request.load.depth,
        draft=draft.facts if draft else None,
        draft_on_host=on_host,
        acceptance=request.speed.acceptance,
    )


def _projector_mib(path: Path | None) -> float:
    if path is None:
        return 0.0
    if not path.is_file():
        message = f"{path} does not exist; --projector takes the GGUF file of a projector"
        raise BadInputError(message)
    return path.stat().st_size / MIB


def _notes(target: Source, draft: Source | None, computer: Computer) -> tuple[str, ...]:
    notes = (*target.notes, *(draft.notes if draft else ()), *computer.notes)
    return tuple(dict.fromkeys(notes))


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
