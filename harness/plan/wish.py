"""Resolves what a request names: models to facts, a machine to memories, a draft to its method."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from estimates.plan.choices import Source
from estimates.plan.commands import methods_by
from estimates.plan.errors import curves
from estimates.plan.model import MIB, Memory, Setting
from estimates.plan.placement import Case, Draft
from estimates.plan.points import Point, PointError, point_of
from estimates.plan.speculation import Curve, Speculation, Way
from estimates.plan.speed import Machine
from harness.errors import BadInputError
from harness.models.hub_protocol import Hub
from harness.plan.computer import Computer, bandwidth_of, computer_of
from harness.plan.nearest import with_results
from harness.plan.request import NGRAM, PlanRequest
from harness.plan.sources import find

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


def wish_of(request: PlanRequest, say: Callable[[str], None], client: Hub | None) -> Wish:
    """The wish for models that are named, on this machine or a described one."""
    load, models = request.load, request.models
    target = find(models.target or "", say=say, client=client)
    computer = computer_of(request.computer)
    computer = with_results(computer, request.speed.results, target.facts)
    way = _way(models.draft, models.draft_kind)
    draft = None
    if models.draft is not None and way not in ("own-head", "text"):
        draft = find(models.draft, say=say, client=client)
    if way == "own-head" and not target.facts.draft_layers:
        message = f"{models.target} has no built-in prediction head, so it cannot draft for itself"
        raise BadInputError(message)
    setting = load.setting(_rollback(target, way, load.depth))
    on_host = load.draft_gpu_layers == 0
    case = Case(
        target=target.facts,
        setting=setting,
        devices=computer.devices,
        host=computer.host,
        draft=_draft(draft, setting, on_host=on_host),
        uses_head=way == "own-head",
        projector_mib=_projector_mib(models.projector),
        margin_mib=float(load.margin),
    )
    return Wish(
        name=models.target or "",
        drafting=models.draft if way is not None else None,
        target=target,
        draft=draft,
        speculation=_speculation(way, request, target, draft, on_host=on_host),
        case=case,
        speed=replace(computer.speed, anchors=request.speed.anchors),
        layers=load.gpu_layers,
        cpu_experts=load.cpu_experts,
        notes=_notes(target, draft, computer),
    )


def wish_of_facts(request: PlanRequest) -> Wish:
    """The wish for a file of facts, on the device that it names or a described machine."""
    point = _read_point(request.models.facts or Path())
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
    way: Way | None = "own-head" if point.uses_head else None
    target = Source(facts=point.facts, path=None, server_name=f"{point.name}.gguf")
    return Wish(
        name=point.name,
        drafting=methods_by(way)[0] if way else None,
        target=target,
        draft=None,
        speculation=_speculation(way, request, target, None, on_host=False),
        case=Case(
            target=point.facts,
            setting=point.setting,
            devices=devices,
            host=host,
            uses_head=point.uses_head,
            margin_mib=float(request.load.margin),
        ),
        speed=Machine(
            device_gb_per_s=_bandwidth_of(devices),
            host_gb_per_s=host.bandwidth_gb_per_s,
            anchors=request.speed.anchors,
        ),
        layers=None if described else point.layers,
        cpu_experts=None,
        notes=tuple(notes),
    )


def _read_point(path: Path) -> Point:
    """The point in a file. Raises `BadInputError` with what is wrong."""
    try:
        return point_of(orjson.loads(path.read_bytes()))
    except OSError as error:
        message = f"{path} cannot be read ({error.strerror}); give a JSON file with facts"
        raise BadInputError(message) from error
    except orjson.JSONDecodeError as error:
        message = f"{path.name} is not JSON ({error.msg}); give one point of facts"
        raise BadInputError(message) from error
    except PointError as error:
        raise BadInputError(str(error)) from error


def _bandwidth_of(devices: tuple[Memory, ...]) -> float | None:
    """The bandwidth of the first device whose name is known."""
    known = (bandwidth_of(device.name) for device in devices)
    return next((rate for rate in known if rate is not None), None)


def _way(draft: str | None, kind: str | None) -> Way | None:
    if draft is None or draft.lower() == "none":
        return None
    own, text, model = (methods_by(way) for way in ("own-head", "text", "model"))
    if draft.lower() in own:
        return "own-head"
    if draft.lower() in (*text, NGRAM):
        return "text"
    return "model" if kind is None or kind in model else "other-head"


def _rollback(target: Source, way: Way | None, depth: int) -> int:
    """States that newer llama.cpp keeps to undo rejected tokens of these ways of drafting."""
    return depth if target.facts.recurrent and way in ("own-head", "other-head") else 0


def _draft(draft: Source | None, setting: Setting, *, on_host: bool) -> Draft | None:
    if draft is None:
        return None
    return Draft(
        facts=draft.facts,
        setting=replace(setting, rollback_states=0, kv_k="f16", kv_v="f16"),
        on_host=on_host,
    )


def _curve(target: Source, method: str) -> Curve | None:
    """What was published about this very model with this method."""
    names = {_plain(target.facts.name), _plain(target.server_name)}
    for curve in curves():
        if curve.method == method and any(_plain(curve.target) in name for name in names):
            return curve
    return None


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", name.lower())


def _speculation(
    way: Way | None,
    request: PlanRequest,
    target: Source,
    draft: Source | None,
    *,
    on_host: bool,
) -> Speculation | None:
    if way is None:
        return None
    usual = methods_by(way)
    asked = (request.models.draft_kind, (request.models.draft or "").lower())
    method = next((name for name in asked if name in usual), usual[0])
    return Speculation(
        way=way,
        method=method,
        curve=_curve(target, method),
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
