"""Write the answers for all listed models and machines, as `assets/answers/<model>.json`.

The terminal gives the same answer to the same question (`--gpu` or `--cpu`, and a model's name).
All sentences and commands are written here; page scripts only look them up. Each distinct string is
stored once, in `texts`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import partial
from hashlib import sha256
from operator import attrgetter
from types import MappingProxyType

import msgspec
import orjson

from answers.answer import Answer, Question, answer
from answers.catalog import model_named
from answers.choices import Placements
from answers.errors import QuestionError
from answers.evidence import Report
from answers.listed import (
    PROCESSORS,
    ListedMachine,
    listed_machines,
    listed_models,
    model_label,
    question_about,
)
from answers.machines import Computer, described_computer
from answers.model import ModelFacts
from answers.rates import Rate, rates_of, with_rates
from answers.sized_shapes import shape_named
from pipeline.cache import Cache
from pipeline.site.pages.answer_card import Words, words_of
from pipeline.site.pages.model import Asset
from pipeline.site.rows import grouped
from schemas.codec import Json

FORMAT, VERSION = "draftmap-answers", 2
FOLDER = "assets/answers"
DIGITS = 6
WORDS = tuple(each.name for each in fields(Words))  # stored as indices of entries in `texts`
_WORDS_OF = attrgetter(*WORDS)
COLUMNS = (
    *("machine", "verdict", "chance", "before_tps", "after_tps", "speedup", "low", "high", "basis"),
    *("method", "depth", "draft", "people", "fits", "context"),
    *WORDS,
)


def answer_files(
    cache: Cache,
    reports: Iterable[Report],
    rates: Sequence[Rate],
    addresses: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Asset]:
    """Yield an index of machines and models, then the answer file of each model.

    `addresses` maps a model's key to the address of its page.
    """
    by_model = grouped(reports, attrgetter("model"))
    measured = {x.card for own in by_model.values() for x in own if x.on_cpu}
    asked = tuple(listed_machines(measured))
    models = listed_models(by_model)
    computers = tuple(_computers(asked, rates))
    free = {each.number: _free_mib(each.computer) for each in computers}
    index = {
        "format": FORMAT,
        "version": VERSION,
        "machines": [
            (x.name, x.gib, x.kind, x.gb_per_s, x.shares, free.get(number))
            for number, x in enumerate(asked)
        ],
        "processors": PROCESSORS,
        "models": [
            {**_model(key, name, by_model.get(key, ())), "address": addresses.get(key)}
            for key, name in models
        ],
        "columns": COLUMNS,
        "words": WORDS,
    }
    yield Asset(path=f"{FOLDER}/index.json", data=orjson.dumps(index))
    names = [each.name for each in asked]
    for key, name in models:
        own = {key: by_model.get(key, ())}
        inputs = ["answers", key, name, names, msgspec.to_builtins((own, rates))]
        rows = ["rows", key, name, msgspec.to_builtins(own)]
        cache.keep(rows)
        make = partial(_file, key, name, computers, own, cache, rows)
        found = cache.get_or_make(inputs, make)
        yield Asset(path=f"{FOLDER}/{key}.json", data=found)


def _model(key: str, name: str, own: Iterable[Report]) -> Mapping[str, object]:
    """A model's entry in the index; if several fit, scripts choose the one with most `people`."""
    shape = shape_named(name)
    return {
        "id": key,
        "name": name,
        "label": model_label(key),
        "parameters": shape and float(f"{shape.parameters:.3g}"),
        "mixture": bool(shape and shape.experts),
        "people": len({each.person or each.source for each in own}),
    }


@dataclass(frozen=True, slots=True)
class _Machine:
    """A machine with known memory, its number in the index, and the memory rates reached on it."""

    number: int
    computer: Computer
    digest: str
    rates: tuple[Rate, ...]

    def with_rates_for(self, facts: ModelFacts) -> tuple[str, Computer]:
        """The machine with the rates reached with similar models, and a digest of all of it."""
        computer = with_rates(self.computer, self.rates, facts, of_this_machine=True)
        speed = computer.speed
        reached = f"{speed.device_reached_gb_per_s} {speed.host_reached_gb_per_s}"
        return f"{self.digest} {reached}", computer


def _computers(asked: Iterable[ListedMachine], rates: Iterable[Rate]) -> Iterator[_Machine]:
    for number, machine in enumerate(asked):
        with suppress(QuestionError):  # a card of unknown size
            computer = described_computer(machine.words)
            digest = sha256(msgspec.json.encode(computer)).hexdigest()
            yield _Machine(number, computer, digest, rates_of(computer, rates))


def _free_mib(computer: Computer) -> int | None:
    """The free memory of a single card before a model is loaded; `None` for several cards."""
    if len(computer.devices) != 1:
        return None
    return int(computer.devices[0].free_mib)


def _file(
    key: str,
    name: str,
    machines: Iterable[_Machine],
    reports: Mapping[str, Sequence[Report]],
    cache: Cache,
    kept_rows: Sequence[object],
) -> bytes:
    """The answer file of a model. Rows for machines without new results come from the cache."""
    texts: dict[str, int] = {}
    placed: dict[tuple[object, ...], Placements] = {}
    before = orjson.loads(cache.get(kept_rows) or b"{}")
    after: dict[str, Sequence[Json]] = {}
    rows = []
    target = model_named(name)
    for machine in machines:
        if target is None:  # people measured the model, but its shape is unknown
            break
        own, computer = machine.with_rates_for(target.facts)
        if own not in before:
            question = question_about(name, target, computer, reports=reports)
            kept = placed.setdefault(_memory_of(question), Placements(question.load))
            before[own] = [*_row(answer(question, placed=kept))]
        after[own] = before[own]
        *figures, words = before[own]
        numbers = (w if w is None else texts.setdefault(w, len(texts)) for w in words)
        rows.append([machine.number, *figures, *numbers])
    cache.put(kept_rows, orjson.dumps(after))
    document = {
        "format": FORMAT, "version": VERSION, "model": key, "name": name,
        "columns": COLUMNS, "answers": rows, "texts": list(texts),
    }  # fmt: skip
    return orjson.dumps(document)


def _memory_of(question: Question) -> tuple[object, ...]:
    """The memory that determines placements; machines with equal memory have equal placements."""
    computer = question.computer
    free = tuple(memory.free_mib for memory in (*computer.devices, computer.host))
    return free, computer.unified


def _row(found: Answer) -> Iterator[Json]:
    """Yield the values of `COLUMNS` after "machine", those of `WORDS` as one list at the end."""
    judged = found.judged
    gain = judged.gain if judged else None
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
    yield [*_WORDS_OF(words_of(found))]


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{DIGITS}g}")
