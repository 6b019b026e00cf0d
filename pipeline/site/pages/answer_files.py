"""Answer every listed model on every listed machine: `assets/answers/<model>.json`, one a model.

The terminal gives the same answers to the same words (`--gpu` or `--cpu`, and the model's name).
Sentences and commands are Python's; a page looks them up. Each is stored once in `texts`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from operator import attrgetter

import msgspec
import orjson

from answers.answer import Answer, Question, answer
from answers.choices import Placements
from answers.errors import QuestionError
from answers.evidence import Report
from answers.listed import listed_models, question_by_name
from answers.machines import Computer, MachineWords, described_computer
from answers.measure import measure_words
from answers.names import card_label
from answers.rates import Rate
from answers.words import sentences
from estimates.roofline import devices
from pipeline.cache import Cache
from pipeline.site.pages.model import Asset
from pipeline.site.pages.shown_commands import line_of
from pipeline.site.rows import grouped
from schemas.codec import Json

FORMAT, VERSION = "draftmap-answers", 1
FOLDER = "assets/answers"
MEMORY_CLASSES_GIB = (4, 6, 8, 10, 12, 16, 20, 24, 32, 48, 80, 96)
PROCESSORS = ("8 cores DDR4-3200", "16 cores DDR5-5600", "32 cores 8-channel DDR4-3200")
PROCESSOR_RAM_GIB = 64.0
DIGITS = 4
COLUMNS = (
    *("machine", "verdict", "chance", "before_tps", "after_tps", "speedup", "low", "high", "basis"),
    *("method", "depth", "draft", "people", "fits", "context"),
    *("says", "why", "losses", "room", "assumed", "accuracy", "use", "use_note", "measure"),
)


def answer_files(cache: Cache, reports: Iterable[Report], rates: Sequence[Rate]) -> Iterator[Asset]:
    """The files of all models, and the list of machines and models."""
    by_model = grouped(reports, attrgetter("model"))
    measured = {x.card for own in by_model.values() for x in own if x.on_cpu}
    asked = tuple(machines(measured))
    models = listed_models(by_model)
    index = {
        "format": FORMAT,
        "version": VERSION,
        "machines": [name for name, _ in asked],
        "models": [{"id": key, "name": name} for key, name in models],
        "columns": COLUMNS,
    }
    yield Asset(path=f"{FOLDER}/index.json", data=orjson.dumps(index))
    computers = tuple(_computers(asked))
    for key, name in models:
        own = {key: by_model.get(key, ())}
        inputs = ["answers", key, name, index["machines"], msgspec.to_builtins((own, rates))]
        make = partial(_file, key, name, computers, own, rates)
        yield Asset(path=f"{FOLDER}/{key}.json", data=cache.get_or_make(inputs, make))


def machines(measured: Collection[str]) -> Iterator[tuple[str, MachineWords]]:
    """What a visitor can ask about: a name, and the words that describe it to the terminal.

    Listed cards, classes of memory and processors, with the processors that were `measured`.
    """
    for name in sorted(devices().names):
        label = card_label(name)
        yield label, MachineWords(gpus=(label,))
    for gib in MEMORY_CLASSES_GIB:
        yield f"{gib} GB card", MachineWords(vram=float(gib))
    for text in (*PROCESSORS, *sorted(measured)):
        yield text, MachineWords(gpus=("none",), cpu=text, ram=PROCESSOR_RAM_GIB)


def _computers(
    asked: Iterable[tuple[str, MachineWords]],
) -> Iterator[tuple[int, Computer]]:
    """The machines that can be described, by their numbers in the list."""
    for number, (_, words) in enumerate(asked):
        with suppress(QuestionError):  # a card of unknown size: nobody can say what it holds
            yield number, described_computer(words)


def _file(
    key: str,
    name: str,
    computers: Iterable[tuple[int, Computer]],
    reports: Mapping[str, Sequence[Report]],
    rates: Sequence[Rate],
) -> bytes:
    texts: dict[str, int] = {}
    placed: dict[tuple[object, ...], Placements] = {}
    rows = []
    for number, computer in computers:
        question = question_by_name(name, computer, reports=reports, rates=rates)
        if question is None:
            continue
        kept = placed.setdefault(_memory_of(question), Placements(question.load))
        found = answer(question, placed=kept, details=False)
        rows.append([number, *_row(found, texts)])
    document = {
        "format": FORMAT, "version": VERSION, "model": key, "name": name,
        "columns": COLUMNS, "answers": rows, "texts": list(texts),
    }  # fmt: skip
    return orjson.dumps(document)


def _memory_of(question: Question) -> tuple[object, ...]:
    """What decides where layers go: two machines with the same have the same placements."""
    computer = question.computer
    free = tuple(memory.free_mib for memory in (*computer.devices, computer.host))
    return free, computer.unified


def _row(found: Answer, texts: dict[str, int]) -> Iterator[Json]:
    """The columns after the machine; texts by their numbers."""
    judged, said = found.judged, sentences(found)
    gain = judged.gain if judged else None
    command = found.command
    measured = measure_words(found) if found.best.fits else None

    def stored(text: str | None) -> int | None:
        return None if text is None else texts.setdefault(text, len(texts))

    yield found.verdict
    yield _short(found.chance)
    yield _short(found.alone.tps.estimate)
    yield _short(judged.tps.estimate) if judged else None
    for figure in ("estimate", "low", "high"):
        yield _short(getattr(gain, figure)) if gain else None
    yield gain.basis if gain else None
    speculation = judged.speculation if judged else None
    yield speculation.method if speculation else None
    yield speculation.depth if speculation else None
    yield (judged.draft_name or None) if judged else None
    yield judged.figures.people if judged and judged.figures else None
    yield found.asked.found.extent
    yield found.context_max
    for text in (said.verdict, said.why, said.losses, said.fits, said.assumed, said.accuracy):
        yield stored(text)
    yield stored(command.text if command else None)
    yield stored(command.note if command else None)
    yield stored(line_of(measured) if measured else None)


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{DIGITS}g}")
