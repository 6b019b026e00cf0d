"""List the models and machines that have pages, and build questions from their names alone."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from estimates.roofline import devices
from planner import catalog
from planner.engine_table import implied_engine
from planner.errors import QuestionError
from planner.evidence import PairFigure, of_model, of_task, rig_of, shipped_for
from planner.machines import Computer, MachineWords, described_computer
from planner.model import Setting
from planner.names import ModelRef, card_label, read_machine, read_model
from planner.names_table import listed_slug
from planner.presets import presets
from planner.question import Question
from planner.shapes import shapes
from planner.sized_shapes import is_head, shape_named
from planner.usual_weights import fitted
from planner.ways import PlannedModel
from schemas.rig import LLAMA_CPP
from schemas.vocabulary.documents import document

_LISTED = document("listed", "planner")
PROCESSORS: Mapping[str, Sequence[str]] = _LISTED["processors"]
COMMON: Sequence[Mapping[str, str]] = _LISTED["common"]
MEMORY_CLASSES_GIB: Sequence[int] = _LISTED["memory_classes_gib"]
_ASSUMED_ENGINE = f"the engine is not stated, so {LLAMA_CPP} is assumed"
_PRINTED: Mapping[str, str] = _LISTED["printed"]


class ListedMachine(msgspec.Struct, frozen=True, kw_only=True):
    """A machine under the name that pages print, with its description for the terminal."""

    name: str
    words: MachineWords
    kind: Literal["gpu", "memory", "cpu"] = "gpu"

    @property
    def gib(self) -> float | None:
        """The memory of its cards, or main memory if the card shares it; `None` if unknown."""
        try:
            found = described_computer(self.words)
        except QuestionError:
            return None
        sizes = [card.gib for card in found.devices]
        return None if None in sizes else sum(filter(None, sizes)) * found.machines or None

    @property
    def cards(self) -> str:
        """The cards that the name means, as `2 rtx 3090 + 1 rtx 4090`."""
        named = read_machine(self.name).cards if self.kind == "gpu" else ()
        return " + ".join(f"{card.count} {card.key}" for card in named)


def question_by_name(
    name: str,
    computer: Computer,
    *,
    pairs: Mapping[str, Sequence[PairFigure]] | None = None,
) -> Question | None:
    """The question about a model known only by name; `None` if its shape is unknown.

    `pairs` (by model), if given, replace the ones that ship with the program.
    """
    ref = read_model(name)
    target = catalog.model_meant(ref)
    if target is None:
        return None
    target, notes = as_asked(ref, target, computer)
    return with_ways(question_about(ref, target, computer, pairs=pairs, notes=notes))


def as_asked(
    ref: ModelRef, target: PlannedModel, computer: Computer, engine: str | None = None
) -> tuple[PlannedModel, tuple[str, ...]]:
    """The model for the question's engine and in its quantisation, and what had to be assumed.

    The engine is the one given or, for `None`, the one that the model's name implies.
    """
    known = engine or implied_engine(ref) or (LLAMA_CPP if target.path else None)
    notes = () if known else (_ASSUMED_ENGINE,)
    if ref.quantisation is None:
        target, note = fitted(target, computer, known or LLAMA_CPP)
        notes = tuple(filter(None, (note, *notes)))
    return catalog.in_engine(target, known or LLAMA_CPP, ref.repository or "MODEL"), notes


def question_about(
    ref: ModelRef,
    target: PlannedModel,
    computer: Computer,
    *,
    pairs: Mapping[str, Sequence[PairFigure]] | None = None,
    task: str | None = None,
    notes: tuple[str, ...] = (),
) -> Question:
    """The question about a model on a computer, without ways to draft."""
    known = shipped_for(ref.slug) if pairs is None else of_model(pairs, ref.slug)
    return Question(
        name=ref.written,
        model=ref.slug,
        pairs=known,
        figures=of_task(known, task, ref.written),
        task=task,
        target=target,
        computer=computer,
        setting=Setting(),
        engine=target.engine,
        quantisation=target.preset.quantisation if target.preset else ref.quantisation,
        notes=notes,
    )


def with_ways(asked: Question) -> Question:
    """The question with all ways to draft for its model."""
    return replace(asked, ways=catalog.ways_of(asked.target, asked.figures_here))


def listed_models(reported: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Every model of known size, listed or in `reported`: its key, and its name for `plan`."""
    models = (*reported, *_LISTED["models"])
    names = {each: each for each in models if not is_head(each) and shape_named(each) is not None}
    names |= {listed_slug(shape.name): shape.name for shape in shapes()}
    whole = (each for each in presets().values() if not each.head and not each.pruned_layers)
    names |= {each.key: each.name for each in reversed([*whole])}
    return tuple(sorted(names.items()))


def model_label(key: str) -> str:
    """A model's printed name: `qwen3-30b-a3b` becomes `Qwen3 30B-A3B`."""
    words = [_PRINTED.get(word) or _capital(word) for word in key.split("-")]
    text = re.sub(r"(?<=\dB) (?=A\d)", "-", " ".join(words))
    return re.sub(r"gpt oss (.*)", lambda found: f"gpt-oss-{found[1].lower()}", text)


def listed_machines(pairs: Iterable[PairFigure]) -> Iterator[ListedMachine]:
    """Cards by size and number, generic cards by memory, processors, and other devices of `pairs`.

    Every device of the map has a listed machine, unless a card of it is unknown.
    """
    one_of_each = {pair.device: pair for pair in pairs}
    processors = sorted({each.card for each in one_of_each.values() if each.on_cpu})
    known = frozenset(devices().names)
    own = sorted(known.difference(_LISTED["by_memory"]))
    cards = [_card(name) for key in own for name in _names(key)]
    yield from cards
    rigs = {rig_of(described_computer(each.words)) for each in cards}
    for _, pair in sorted(one_of_each.items()):
        is_known = known.issuperset(pair.card.split(" + ")) and not pair.on_cpu
        if is_known and not any(rig.has(pair) for rig in rigs):
            yield _card(pair.name)
    for gib in MEMORY_CLASSES_GIB:
        yield ListedMachine(
            name=f"{gib} GB card", words=MachineWords(vram=float(gib)), kind="memory"
        )
    ram = float(_LISTED["processor_ram_gib"])
    for text in (*PROCESSORS, *processors):
        words = MachineWords(gpus=("none",), cpu=text, ram=ram)
        yield ListedMachine(name=text, words=words, kind="cpu")


def _card(name: str) -> ListedMachine:
    return ListedMachine(name=name, words=MachineWords(gpus=(name,)))


def _names(key: str) -> Iterator[str]:
    """A card with its usual memory, with its other memory sizes, and in groups of several."""
    label = card_label(key)
    yield label
    yield from (f"{label} {gib} GB" for gib in _LISTED["sizes"].get(key, ()))
    for count in _LISTED["several"].get(key, ()):
        yield f"{count} \N{MULTIPLICATION SIGN} {label}"


def _capital(word: str) -> str:
    size = re.fullmatch(r"[ae]?\d[\d.x]*[bm]?", word)
    return word.upper().replace("X", "x") if size else word.capitalize()
