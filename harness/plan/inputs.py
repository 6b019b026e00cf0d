"""Turn the options of `plan` into a question about the model, the machine and possible drafts."""

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from harness.errors import BadInputError
from harness.files import expanded
from harness.machine.computer import computer_of
from harness.models.compatibility import difference, refusal
from harness.models.model_facts import find, of_preset
from harness.models.resolve import refuse_unknown
from harness.models.room import other_vocabulary
from harness.plan import options
from harness.plan.own_acceptance import own_acceptance
from harness.record.measured_here import kept_for, with_own_figures
from planner import catalog
from planner.engine_commands import methods_by, source_of
from planner.engine_table import ENGINES, engine_kind
from planner.listed import as_asked, question_about
from planner.machines import Computer, MachineWords
from planner.names import ModelRef, Named, NamedMachine, read_model
from planner.names import read as read_names
from planner.question import Question
from planner.rounds import Curve
from planner.ways import PlannedModel, Way
from schemas.vocabulary import METHODS

_NO_CURVE = "none"
_NO_SHARE = (
    "the acceptance was not used, because most rounds have no draft from the text; give "
    "--tokens-per-round"
)


def question_of(
    models: options.ModelOptions,
    *,
    load: options.LoadOptions,
    computer: options.ComputerOptions,
    speed: options.SpeedOptions,
    say: Callable[[str], None],
) -> Question:
    """Return the question that the options describe; only the models' headers are read.

    Raises `BadInputError` for what cannot be planned, `MachineError` if the hub has no header.
    """
    name = models.target or ""
    said, notes = _said(name, models.usual_engine)
    other = said.machine.cards or said.machine.processor or said.machine.ram_gib
    here = computer_of(computer.words, said.machine if other else None)
    ref, target = _found(said.model or read_model(name), say)
    curve = _curve(speed.curve, name, target, here, load.kv_type, computer.words)
    if curve is None:  # a curve belongs to this file
        target, assumed = as_asked(ref, target, here, models.engine or _engine(said))
        notes += assumed
    asked = replace(
        question_about(ref, target, here, task=models.task or said.task, notes=notes),
        setting=load.setting(said.context_tokens),
        alone=(models.draft or "").lower() == "none",
        curve=curve,
    )
    return _with_ways(asked, models, load.depth, speed, say)


def _with_ways(
    asked: Question,
    models: options.ModelOptions,
    depth: int | None,
    speed: options.SpeedOptions,
    say: Callable[[str], None],
) -> Question:
    """Return the question with ways to draft, and with what was measured of them."""
    own = own_acceptance(speed)
    if asked.alone or models.draft is None:
        asked = replace(asked, ways=tuple(own.applied(e, depth, asked.curve) for e in _ways(asked)))
    else:
        named = _named(models.draft, models.draft_kind, asked.target, say)
        named = own.applied(named, depth, asked.curve, is_named=True)
        notes = (_NO_SHARE,) if own.share is not None and named.source == "text" else ()
        ways = (*_others(asked, named), named)
        asked = replace(asked, ways=ways, named=named, notes=(*asked.notes, *notes))
    return with_own_figures(asked, depth, own.plain_tps)


def _others(asked: Question, named: Way) -> Iterator[Way]:
    """Yield the other ways to draft; of those from the text, which are alike, the ones tried."""
    tried = {pair.method for pair in asked.figures_here}
    for way in _ways(asked):
        alike = way.source == named.source == "text" and way.method not in tried
        if way.key != named.key and not alike:
            yield way


def _found(ref: ModelRef, say: Callable[[str], None]) -> tuple[ModelRef, PlannedModel]:
    """Return the model that is meant; a file on this disk is known by its own name."""
    target = find(ref, say=say)
    if target.path is None or target.preset is not None:
        return ref, target
    own = read_model(target.facts.name)
    return replace(own, written=ref.written, quantisation=ref.quantisation), target


def _said(text: str, usual_engine: str | None) -> tuple[Named, tuple[str, ...]]:
    """Return the parts of a text of several words, and a note of words that were not understood.

    Any other text is a model's name or a file. A text without an engine means the usual one.
    """
    if not text:
        raise BadInputError("name a model, such as `python -m harness plan qwen3-8b`")
    is_file = expanded(text).is_file()
    if " " not in text.strip() or is_file:
        said = Named(machine=NamedMachine(), model=read_model(text))
    else:
        said = read_names(text)
    if said.model is None:
        raise refuse_unknown(text)
    unknown = () if is_file else (*said.unknown, *said.model.unknown)
    notes = [f"{word!r} was not understood" for word in unknown]
    if said.engine and _engine(said) is None:
        notes.append(f"{said.engine} cannot be planned; {', '.join(ENGINES)} can")
    return replace(said, engine=said.engine or usual_engine), tuple(notes)


def _engine(said: Named) -> str | None:
    kind = said.engine if said.engine in ENGINES else engine_kind(said.engine or "")
    return kind if kind in ENGINES else None


def _curve(
    given: str | None,
    name: str,
    target: PlannedModel,
    computer: Computer,
    kv_type: str,
    words: MachineWords,
) -> Curve | None:
    """Return the cost curve that the user gave, else the one that `probe` stored for this file."""
    if given is not None:
        if given == _NO_CURVE:
            return None
        from harness.record.read import read  # noqa: PLC0415 - slow, and few name a curve

        return read(expanded(given)).curve_for(name, target, computer, kv_type)
    return kept_for(target.path, computer) if target.path and not words.described else None


def _ways(asked: Question) -> Iterator[Way]:
    """Yield all ways to draft."""
    if not asked.alone:
        yield from catalog.ways_of(asked.target, asked.figures_here, of_preset)


def _named(draft: str, kind: str | None, target: PlannedModel, say: Callable[[str], None]) -> Way:
    """Return the way to draft that the user named, by a method or a model.

    Raises `BadInputError` if it cannot draft for the target.
    """
    word = draft.lower()
    if word not in (*METHODS, options.NGRAM):
        method = kind or methods_by("model")[0]
        model = find(read_model(draft), say=say)
        if source_of(method) == "model":
            _require_vocabulary(target, model)
        return catalog.way_by(method, target, model, draft)
    if word not in METHODS:
        word = (*methods_by("text", target.engine), *methods_by("text"))[0]
    lacks = source_of(word) == "own-head" and not target.facts.draft_layers
    if lacks and not catalog.may_have_head(target):
        raise BadInputError(
            f"{target.facts.name} has no built-in prediction head, so it cannot use itself as draft"
        )
    return catalog.way_of(word, target, of_preset)


def _require_vocabulary(target: PlannedModel, draft: PlannedModel) -> None:
    """Raise `BadInputError` if a draft model is the target itself or has a different vocabulary."""
    if draft.facts == target.facts:
        raise BadInputError(
            f"{draft.facts.name} is the target itself; name a smaller model as the draft"
        )
    # Compare the files if both are on this disk, else size and maker.
    if target.path is not None and draft.path is not None:
        reason = difference(target.path, draft.path)
    else:
        reason = other_vocabulary(target.facts, draft.facts)
    if reason is not None:
        raise refusal(target.facts.name, draft.facts.name, reason)
