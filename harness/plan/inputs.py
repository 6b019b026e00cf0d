"""Turn the options of `plan` into a question about the model, the machine and possible drafts."""

from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec.structs import replace

from answers import catalog
from answers.answer import Question, figures_of
from answers.choices import PlannedModel, Way
from answers.commands import methods_by, source_of
from answers.curves import Curve
from answers.listed import as_asked, question_about
from answers.machines import Computer
from answers.model import Setting
from answers.names import ModelRef, Named, NamedMachine, read, read_model
from answers.rounds import DraftSource
from answers.served_engines import ENGINES, engine_named
from harness.campaign.options import AUTOMATIC_LAYERS
from harness.errors import BadInputError
from harness.files import expanded
from harness.machine.computer import computer_of
from harness.machine.engines import server_program
from harness.models.compatibility import compare_files, refusal
from harness.models.model_facts import find, of_preset
from harness.models.resolve import refuse_unknown
from harness.models.room import other_vocabulary
from harness.plan import options
from harness.plan.nearest import with_results
from harness.record.measured_here import kept_for, with_own_figures
from harness.record.read import read as read_curve
from schemas.vocabulary import METHODS

_NO_CURVE = "none"


def question_of(
    models: options.ModelOptions,
    *,
    load: options.LoadOptions,
    computer: options.ComputerOptions,
    speed: options.SpeedOptions,
    say: Callable[[str], None],
) -> Question:
    """Return the question that the options describe; only the models' headers are read.

    Raises `BadInputError` for a model that cannot be planned and for contradictory options,
    `MachineError` if the hub returns no header.
    """
    if models.target is None:
        raise BadInputError("name a model, such as `python -m harness plan qwen3-8b`")
    said, notes = _said(models.target)
    described = bool(said.machine.cards or said.machine.processor or said.machine.ram_gib)
    here = computer_of(computer.words, said.machine if described else None)
    ref, target = _found(said.model or read_model(models.target), say)
    curve = _curve(speed.curve, models.target, target, here, described=computer.words.described)
    if curve is None:  # a curve belongs to this file
        engine = models.engine or (engine_named(said.engine) if said.engine else None)
        target, assumed = as_asked(ref, target, here, engine)
        notes += assumed
    machine = with_results(here, speed.results, target)
    asked = replace(
        question_about(ref, target, machine, notes=notes),
        setting=_setting(load, said),
        alone=(models.draft or "").lower() == "none",
        task=models.task or said.task,
        layers=None if load.gpu_layers == AUTOMATIC_LAYERS else load.gpu_layers,
        cpu_experts=load.cpu_experts,
        curve=curve,
    )
    named = _named(models, load, target, speed.acceptance, say)
    ways = () if asked.alone else tuple(_ways(asked, named, load.depth, speed.acceptance))
    asked = replace(asked, ways=ways, named=named)
    return with_own_figures(asked, speed.results, load.depth)


def _found(ref: ModelRef, say: Callable[[str], None]) -> tuple[ModelRef, PlannedModel]:
    """Return the model that is meant; a file on this disk is known by its own name."""
    target = find(ref, say=say)
    if target.path is None or target.preset is not None:
        return ref, target
    own = read_model(target.facts.name)
    return replace(own, written=ref.written, quantisation=ref.quantisation), target


def _said(text: str) -> tuple[Named, tuple[str, ...]]:
    """Return the parts of a text of several words, and a note of words that were not understood.

    Any other text is a model's name or a file.
    """
    is_file = expanded(text).is_file()
    if " " not in text.strip() or is_file:
        said = Named(machine=NamedMachine(), model=read_model(text))
    else:
        said = read(text)
    if said.model is None:
        raise refuse_unknown(text)
    unknown = () if is_file else (*said.unknown, *said.model.unknown)
    notes = [f"{word!r} was not understood" for word in unknown]
    if said.engine and engine_named(said.engine) is None:
        notes.append(f"{said.engine} cannot be planned; {', '.join(ENGINES)} can")
    return said, tuple(notes)


def _setting(load: options.LoadOptions, said: Named) -> Setting:
    """Return the settings of the options, with the context of the text if no option names one."""
    setting = load.setting()
    if said.context_tokens is None or setting.context != Setting().context:
        return setting
    return replace(setting, context=said.context_tokens)


def _curve(
    given: str | None, name: str, target: PlannedModel, computer: Computer, *, described: bool
) -> Curve | None:
    """Return the cost curve that the user gave, else the one that `probe` stored for this file."""
    if given is not None:
        known = given != _NO_CURVE
        return read_curve(expanded(given)).curve_for(name, target, computer) if known else None
    return kept_for(target.path, computer) if target.path and not described else None


def _ways(
    asked: Question,
    named: Way | None,
    depth: int | None,
    acceptance: float | None,
) -> Iterator[Way]:
    """Yield all possible ways to draft, ending with the one that the user named, if any.

    Depth and acceptance apply to the named way, or to all ways if none is named.
    """
    listed = catalog.ways_of(
        asked.target,
        figures_of(asked),
        of_preset,
        depth=None if named else depth,
        acceptance=None if named else acceptance,
    )
    yield from (way for way in listed if way.key != (named and named.key))
    yield from filter(None, [named])


def server_of(computer: options.ComputerOptions, *, described: bool = False) -> Path | None:
    """Return the named or installed llama-server, if any; `None` when planning for another machine.

    Raises `BadInputError` if a named server is missing.
    """
    named = computer.server_binary
    if computer.words.described or described:
        if named:
            raise BadInputError(
                "--server-binary tests this machine; leave out options that describe another "
                "machine"
            )
        return None
    if named:
        from harness.runners.llama_server.binary import find as find_server  # noqa: PLC0415 - slow

        return find_server(named).path
    found = server_program()
    return Path(found) if found else None


def _named(
    models: options.ModelOptions,
    load: options.LoadOptions,
    target: PlannedModel,
    acceptance: float | None,
    say: Callable[[str], None],
) -> Way | None:
    """Return the way to draft that the user named; `None` if none was named.

    Raises `BadInputError` if the named model or method cannot draft for the target.
    """
    draft = models.draft or "none"
    if draft.lower() == "none":
        return None
    method = models.draft_kind or methods_by("model")[0]
    if draft.lower() in (*METHODS, options.NGRAM):
        from_text = (*methods_by("text", target.engine), *methods_by("text"))
        method = draft.lower() if draft.lower() in METHODS else from_text[0]
    source = source_of(method)
    model, name = None, ""
    if draft.lower() not in (*METHODS, options.NGRAM):
        model, name = find(read_model(draft), say=say), draft
        _require_vocabulary(target, model, source)
    elif source != "text" and not (source == "own-head" and target.facts.draft_layers):
        model, name = _listed_drafter(method, target)
    way = catalog.way_by(method, target, model, name)
    depths = (load.depth,) if load.depth else way.depths
    on_host = load.draft_gpu_layers == 0
    return replace(way, depths=depths, acceptance=acceptance, draft_on_host=on_host)


def _listed_drafter(method: str, target: PlannedModel) -> tuple[PlannedModel, str]:
    """Return the drafter for a method named without a file: the catalog's, else an assumed one.

    Raises `BadInputError` for a built-in head that the model does not have.
    """
    preset = catalog.listed_drafter(method, target)
    model = of_preset(preset) if preset else None
    if preset is not None and model is not None:
        return model, preset.name
    if source_of(method) == "own-head" and not catalog.may_have_head(target):
        raise BadInputError(
            f"{target.facts.name} has no built-in prediction head, so it cannot use itself as draft"
        )
    return catalog.assumed_drafter(method, target), ""


def _require_vocabulary(target: PlannedModel, draft: PlannedModel, source: DraftSource) -> None:
    """Raise `BadInputError` if a draft model is the target itself or has a different vocabulary."""
    if source != "model":
        return
    if draft.facts == target.facts:
        raise BadInputError(
            f"{draft.facts.name} is the target itself; name a smaller model as the draft"
        )
    # Compare the files if both are on this disk, else size and maker.
    if target.path is not None and draft.path is not None:
        reason = compare_files(target.path, draft.path).reason
    else:
        reason = other_vocabulary(target.facts, draft.facts)
    if reason is not None:
        raise refusal(target.facts.name, draft.facts.name, reason)
