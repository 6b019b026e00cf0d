"""Write the answers: a page for each common question, and files for all models and machines.

The terminal gives the same answer to the same question (`--gpu` or `--cpu`, and a model's name).
All sentences and commands of `assets/answers/<model>.json` are written here; page scripts only look
them up. Each distinct string of such a file is stored once, in `texts`.
"""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import partial
from hashlib import sha256
from itertools import chain
from operator import attrgetter
from types import MappingProxyType

import duckdb
import msgspec
import orjson

from answers.answer import Answer, Question, answer
from answers.answer_json import evidence_of
from answers.catalog import model_named
from answers.choices import Placements
from answers.errors import QuestionError
from answers.evidence import PairFigure
from answers.kin import rig_of
from answers.listed import (
    COMMON,
    PROCESSORS,
    ListedMachine,
    listed_machines,
    listed_models,
    model_label,
    question_about,
    question_by_name,
)
from answers.machines import Computer, described_computer
from answers.model import ModelFacts
from answers.model_names import model_key
from answers.rates import Rate, rates_of, with_rates
from answers.sized_shapes import shape_named
from pipeline.cache import Cache
from pipeline.site.pages import evidence_file
from pipeline.site.pages.answer_card import Words, card_of, words_of
from pipeline.site.pages.model import Asset, Page, Site, answer_address, path_of, target_address
from pipeline.site.pages.template_environment import render
from pipeline.site.rows import grouped
from schemas.codec import Json
from schemas.vocabulary import say

FORMAT, VERSION = "draftmap-answers", 2
FOLDER = "assets/answers"
DIGITS = 6
WORDS = tuple(each.name for each in fields(Words))  # stored as indices of entries in `texts`
_WORDS_OF = attrgetter(*WORDS)
COLUMNS = (
    *("machine", "verdict", "chance", "baseline_tps", "tps", "speedup", "low", "high", "basis"),
    *("method", "depth", "draft", "people", "fits", "context", "figures"),
    *WORDS,
)
FINDINGS = {
    "Yes": "faster",
    "Probably": "probably faster",
    "Try it": "may go either way",
    "Probably not": "probably not faster",
    "No": "not faster",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonAnswer:
    """A question that many people ask, with its answer."""

    machine: str
    model: str
    found: Answer

    @property
    def asked(self) -> str:
        return f"{self.machine} with {self.model}"

    @property
    def address(self) -> str:
        return answer_address(f"{self.machine} {self.model}".lower().replace(" ", "-"))

    @property
    def finding(self) -> str:
        """The verdict in words for a title, with the speedup and the tier of its evidence."""
        judged = self.found.judged
        if not self.found.asked.fits:
            return "does not fit"
        if judged is None or judged.gain is None:
            return "no method can draft for it"
        basis = judged.figures.tier if judged.figures else "predicted"
        return f"{FINDINGS[self.found.verdict]}, {say.times(judged.gain.estimate)} ({basis})"


def common_answers(pairs: Iterable[PairFigure], rates: Sequence[Rate]) -> Iterator[CommonAnswer]:
    """The answers to the questions in `listed.toml`, in the order of that file."""
    by_model = grouped(pairs, attrgetter("model"))
    machines = {each.name: each for each in listed_machines(())}
    for asked in COMMON:
        machine = machines[asked["machine"]]
        computer = described_computer(machine.words)
        question = question_by_name(asked["model"], computer, pairs=by_model, rates=rates)
        if question is not None:
            yield CommonAnswer(
                machine=f"{machine.name} {machine.gib:g} GB",
                model=model_label(asked["model"]),
                found=answer(question),
            )


def answers(
    connection: duckdb.DuckDBPyConnection,
    site: Site,
    pairs: Sequence[PairFigure],
    rates: Sequence[Rate],
    common: Sequence[CommonAnswer],
) -> Iterator[Page | Asset]:
    """Yield the evidence file, all answer files, and the pages of the common answers."""
    named = connection.table("main_pair").select("target_label", "target").fetchall()
    addresses = {model_key(label): target_address(target) for label, target in named}
    yield evidence_file.evidence_file(pairs)
    yield from answer_files(site.cache, pairs, rates, addresses)
    for each in common:
        key = each.found.question.model
        card = card_of(
            each.found, machine=each.machine, model=each.model, address=addresses.get(key)
        )
        yield render(
            "answer.md.jinja",
            path=path_of(each.address),
            site=site,
            card=card,
            each=each,
            others=[other for other in common if other is not each],
        )


def answer_files(
    cache: Cache,
    pairs: Iterable[PairFigure],
    rates: Sequence[Rate],
    addresses: Mapping[str, str] = MappingProxyType({}),
    only: Container[str] | None = None,
) -> Iterator[Asset]:
    """Yield an index of machines and models, then the answer file of each model, or of some.

    `addresses` maps a model's key to the address of its page; `only` has keys of models.
    """
    by_model = grouped(pairs, attrgetter("model"))
    measured = {x.card for own in by_model.values() for x in own if x.on_cpu}
    asked = tuple(listed_machines(measured))
    models = listed_models(by_model)
    computers = tuple(_computers(asked, rates))
    index = _document(
        machines=list(_listed(asked, computers, chain(*by_model.values()))),
        processors=PROCESSORS,
        models=[
            {**_model(key, name, by_model.get(key, ())), "address": addresses.get(key)}
            for key, name in models
        ],
        columns=COLUMNS,
        words=WORDS,
    )
    yield Asset(path=f"{FOLDER}/index.json", data=index)
    names = [each.name for each in asked]
    for key, name in models:
        if only is not None and key not in only:
            continue
        own = {key: by_model.get(key, ())}
        inputs = ["answers", key, name, names, msgspec.to_builtins((own, rates))]
        rows = ["rows", key, name, msgspec.to_builtins(own)]
        cache.keep(rows)
        made = cache.get_or_make(inputs, partial(_file, key, name, computers, own, cache, rows))
        yield Asset(path=f"{FOLDER}/{_target(key, own[key])}.json", data=made)


def _target(key: str, own: Iterable[PairFigure]) -> str:
    """The id of a model in pages and data files: of the target that most people tried."""
    tried = max(own, key=lambda pair: (pair.people, pair.target), default=None)
    return tried.target if tried else re.sub(r"[^a-z0-9]+", "-", key)


def _model(key: str, name: str, own: Sequence[PairFigure]) -> Mapping[str, object]:
    """A model's entry in the index; if several fit, scripts choose the one with most `people`."""
    shape = shape_named(name)
    ordered = sorted(own, key=attrgetter("people"))  # of each device, most people come last
    return {
        "id": _target(key, own),
        "name": name,
        "label": model_label(key),
        "parameters": shape and float(f"{shape.parameters:.3g}"),
        "mixture": bool(shape and shape.experts),
        "people": sum({each.device: each.people for each in ordered}.values()),
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


def _listed(
    asked: Sequence[ListedMachine], computers: Sequence[_Machine], pairs: Iterable[PairFigure]
) -> Iterator[tuple[object, ...]]:
    """Yield each machine's entry in the index; its free memory is known only for a single card.

    The last value is the id of a machine with figures in pages and data files.
    """
    one_of_each = {pair.device: pair for pair in pairs}.values()
    rigs = {each.number: rig_of(each.computer) for each in computers}
    devices = {
        number: pair.device for number, rig in rigs.items() for pair in one_of_each if rig.has(pair)
    }
    free = {
        each.number: int(each.computer.devices[0].free_mib)
        for each in computers
        if len(each.computer.devices) == 1
    }
    for number, x in enumerate(asked):
        yield x.name, x.gib, x.kind, x.gb_per_s, x.shares, free.get(number), devices.get(number)


def _file(
    key: str,
    name: str,
    machines: Iterable[_Machine],
    pairs: Mapping[str, Sequence[PairFigure]],
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
            question = question_about(name, target, computer, pairs=pairs)
            kept = placed.setdefault(_memory_of(question), Placements(question.load))
            before[own] = [*_row(answer(question, placed=kept))]
        after[own] = before[own]
        *figures, words = before[own]
        numbers = (w if w is None else texts.setdefault(w, len(texts)) for w in words)
        rows.append([machine.number, *figures, *numbers])
    cache.put(kept_rows, orjson.dumps(after))
    model = _target(key, pairs[key])
    return _document(model=model, name=name, columns=COLUMNS, answers=rows, texts=list(texts))


def _document(**content: object) -> bytes:
    return orjson.dumps({"format": FORMAT, "version": VERSION, **content})


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
    yield _short(found.before.estimate)
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
    yield [*map(evidence_of, found.figures)]
    yield [*_WORDS_OF(words_of(found))]


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{DIGITS}g}")
