"""Resolve the options of `plan`: models to facts, a machine to memories, a draft to its method."""

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from answers.alternatives import DraftSources
from answers.choices import PlannedModel
from answers.commands import default_depth, methods_by
from answers.learned import learned
from answers.machines import Computer
from answers.placement import Draft, LoadPlan
from answers.presets import default_draft
from answers.rounds import DraftSource, Speculation
from answers.speed import MachineSpeed
from harness.errors import BadInputError
from harness.machine.computer import computer_of
from harness.machine.engines import SERVER_PROGRAM, default_runner, server_program
from harness.models.compatibility import compare_files, refusal
from harness.models.model_facts import find
from harness.models.room import other_vocabulary
from harness.plan import options
from harness.plan.nearest import with_results
from schemas.vocabulary import METHODS, RUNNERS


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanInputs:
    """What is to be planned, as facts. `layers` and `cpu_experts` are a placement asked for.

    Without a draft that was named, the best of the `ways` is to be `chosen`.

    `server` is the llama-server that is asked what it would allocate, on this machine only.
    """

    name: str
    drafting: str | None
    chosen: bool
    target: PlannedModel
    draft: PlannedModel | None
    speculation: Speculation | None
    case: LoadPlan
    ways: DraftSources
    speed: MachineSpeed
    layers: int | None
    cpu_experts: int | None
    server: Path | None = None
    notes: tuple[str, ...] = ()


def plan_inputs(
    models: options.ModelOptions,
    *,
    load: options.LoadOptions,
    computer: options.ComputerOptions,
    speed: options.SpeedOptions,
    say: Callable[[str], None],
) -> PlanInputs:
    """The facts behind the options; of models only headers are read.

    Raises `BadInputError` for a model that cannot be planned, `MachineError` for a hub that gives
    no header, `BadInputError` for contradictory options.
    """
    if models.target is None:
        message = "name a model, such as `python -m harness plan qwen3-8b`"
        raise BadInputError(message)
    here = computer_of(computer.words)
    server = None if here.described else _server(computer.server_binary)
    target = find(models.target, say=say)
    own = with_results(here, speed.results, target)
    source = _draft_source(models.draft, models.draft_kind)
    named = default_draft(models.target) if models.draft is None else None
    usual = find(named.name, say=say) if named else None
    draft = _named_draft(models, source, target, say)
    speculation = None
    if source is not None:
        # The method that was named, else the usual one of this source of drafts.
        asked = (models.draft_kind, (models.draft or "").lower())
        method = next((name for name in asked if name in methods_by(source)), None)
        speculation = _speculation(source, target, load.depth, speed.acceptance, method)
    notes = (*target.notes, *((draft or usual or target).notes), *own.notes)
    # Depth and acceptance describe the named draft, not the other ways of drafting.
    sizes = (None, None) if models.draft else (load.depth, speed.acceptance)
    return PlanInputs(
        name=models.target,
        drafting=named.name if named else models.draft if source else None,
        chosen=models.draft is None,
        target=target,
        draft=draft,
        speculation=speculation,
        case=_case(speculation, load, target, draft, own),
        ways=_ways(target, usual, named.name if named else "", *sizes),
        speed=own.speed,
        layers=load.gpu_layers,
        cpu_experts=load.cpu_experts,
        server=server,
        notes=tuple(dict.fromkeys(notes)),
    )


def _ways(
    target: PlannedModel,
    draft: PlannedModel | None,
    name: str,
    depth: int | None,
    acceptance: float | None,
) -> DraftSources:
    """The ways of drafting that need no name: by text, by heads, and with the usual draft."""
    # The method without a model that a run here measures.
    usual_methods = RUNNERS[default_runner() or SERVER_PROGRAM].default_methods
    text = next(name for name in usual_methods if METHODS[name].draft == "none")
    return DraftSources(
        text=_speculation("text", target, depth, None, text),
        head=_speculation("own-head", target, depth, acceptance),
        model=_speculation("model", target, depth, acceptance),
        draft=draft,
        draft_name=name,
    )


def _named_draft(
    models: options.ModelOptions,
    source: DraftSource | None,
    target: PlannedModel,
    say: Callable[[str], None],
) -> PlannedModel | None:
    """The draft that was named, if it is a model. Raises `BadInputError` where it cannot draft."""
    if source == "own-head" and not target.facts.draft_layers:
        message = f"{models.target} has no built-in prediction head, so it cannot draft for itself"
        raise BadInputError(message)
    if models.draft is None or source not in ("model", "other-head"):
        return None
    draft = find(models.draft, say=say)
    # By the files where both are here, else by size and maker.
    if target.path is not None and draft.path is not None and source == "model":
        reason = compare_files(target.path, draft.path).reason
    else:
        reason = other_vocabulary(target.facts, draft.facts) if source == "model" else None
    if reason is not None:
        raise refusal(target.facts.name, draft.facts.name, reason)
    return draft


def _draft_source(draft: str | None, kind: str | None) -> DraftSource | None:
    if draft is None or draft.lower() == "none":
        return None
    own, text, model = (methods_by(source) for source in ("own-head", "text", "model"))
    if draft.lower() in own:
        return "own-head"
    if draft.lower() in (*text, options.NGRAM):
        return "text"
    return "model" if kind is None or kind in model else "other-head"


def _case(
    speculation: Speculation | None,
    load: options.LoadOptions,
    target: PlannedModel,
    draft: PlannedModel | None,
    own: Computer,
) -> LoadPlan:
    source = speculation.source if speculation else None
    # Newer llama.cpp keeps states to undo rejected tokens of these ways of drafting.
    rolls_back = target.facts.recurrent and source in ("own-head", "other-head")
    return LoadPlan(
        target=target.facts,
        setting=load.setting(speculation.depth if speculation and rolls_back else 0),
        devices=own.devices,
        host=own.host,
        unified=own.unified,
        draft=Draft(facts=draft.facts, on_host=load.draft_gpu_layers == 0) if draft else None,
        uses_head=source == "own-head",
    )


def _speculation(
    source: DraftSource,
    target: PlannedModel,
    depth: int | None,
    acceptance: float | None,
    method: str | None = None,
) -> Speculation:
    """A method, or the usual one of a source, with what was published about it and this model."""
    method = method or methods_by(source)[0]
    names = {_plain(target.facts.name), _plain(target.server_name)}
    curves = (curve for curve in learned().curves if curve.method == method)
    return Speculation(
        source=source,
        method=method,
        curve=next((x for x in curves if any(_plain(x.target) in n for n in names)), None),
        depth=depth or default_depth(method),
        acceptance=acceptance,
    )


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", name.lower())


def _server(named: str | None) -> Path | None:
    """The llama-server to ask: the named or the installed one. Raises `BadInputError`."""
    found = shutil.which(named) if named else server_program()
    if found is None and named:
        message = (
            f"no {SERVER_PROGRAM} at {named} or on PATH; name the program with --server-binary"
        )
        raise BadInputError(message)
    return Path(found) if found else None
