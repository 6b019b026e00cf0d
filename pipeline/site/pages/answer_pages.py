"""Write the answers: a page for each common question, and files for all models and machines.

The terminal gives the same answer to the same question (`--gpu` or `--cpu`, and a model's name).
All sentences and commands of `assets/answers/<model>.json` are written here; page scripts only look
them up. `answers` has the rows of each machine of the index. Each distinct string of such a file is
stored once, in `texts`; the map's figures, which scripts do not read, are in `figures.json`.
"""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from operator import attrgetter
from types import MappingProxyType

import duckdb
import msgspec
import orjson

from answers.answer import Answer, answer
from answers.answer_json import evidence_of
from answers.catalog import model_meant
from answers.evidence import ALL_TASKS, PairFigure, of_model
from answers.listed import (
    COMMON,
    PROCESSORS,
    ListedMachine,
    listed_machines,
    listed_models,
    model_label,
    question_by_name,
)
from answers.machines import described_computer
from answers.model_names import model_key
from answers.names import read_model
from answers.rates import Rate
from answers.sized_shapes import shape_named
from pipeline.cache import Cache
from pipeline.site.pages import evidence_file
from pipeline.site.pages.answer_card import card_of
from pipeline.site.pages.answer_rows import COLUMNS, WORDS, ModelRows, PlannedMachine, machines_of
from pipeline.site.pages.model import Asset, Page, Site, answer_address, path_of, target_address
from pipeline.site.pages.template_environment import render
from pipeline.site.rows import grouped
from schemas.codec import Json
from schemas.vocabulary import say

FORMAT, VERSION = "draftmap-answers", 3
FOLDER = "assets/answers"
FINDINGS = {
    "Yes": "faster",
    "Probably": "probably faster",
    "Try it": "worth a try",
    "No reason to": "no clear gain",
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
        """The verdict in words for a title, with the expected speedup."""
        judged = self.found.judged
        if not self.found.asked.fits:
            return "does not fit"
        if judged is None or judged.gain is None:
            return "no method can draft for it"
        return f"{FINDINGS[self.found.verdict]}, expected {say.times(judged.gain.estimate)}"


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
    """Yield an index, the map's figures by model, and the answer file of each model, or of some.

    `addresses` maps a model's key to the address of its page; `only` has keys of models.
    """
    by_model = grouped(pairs, attrgetter("model"))
    asked = tuple(listed_machines(chain(*by_model.values())))
    models = listed_models(by_model)
    computers = tuple(machines_of(asked, rates))
    index = _document(
        machines=list(_listed(asked, computers)),
        processors=PROCESSORS,
        models=[
            _model(key, name, by_model.get(key, ()), addresses.get(key)) for key, name in models
        ],
        words=WORDS,
    )
    yield Asset(path=f"{FOLDER}/index.json", data=index)
    about = {key: of_model(by_model, key) for key in by_model}
    figures = {_target(key, own): [*_figures(own)] for key, own in about.items()}
    yield Asset(path=f"{FOLDER}/figures.json", data=_document(figures=figures))
    names = [each.name for each in asked]
    for key, name in models:
        if only is not None and key not in only:
            continue
        own = {key: about.get(key, ())}
        inputs = ["answers", key, name, names, msgspec.to_builtins((own, rates))]
        rows = ["rows", key, name, msgspec.to_builtins(own)]
        cache.keep(rows)
        made = cache.get_or_make(inputs, partial(_file, key, name, computers, own, cache, rows))
        yield Asset(path=f"{FOLDER}/{_target(key, own[key])}.json", data=made)


def _target(key: str, own: Iterable[PairFigure]) -> str:
    """The id of a model in pages and data files: of the target that most people tried."""
    named = (pair for pair in own if pair.model == key)  # not another mode of the model
    tried = max(named, key=lambda pair: (pair.people, pair.target), default=None)
    return tried.target if tried else re.sub(r"[^a-z0-9]+", "-", key)


def _model(key: str, name: str, own: Sequence[PairFigure], page: str | None) -> tuple[object, ...]:
    """A model's id, label, parameters, whether it is a mixture, the number of people, and the page.

    The page is true if its address follows from the id, and its address if not. If several
    models fit a question, scripts choose the one of most people.
    """
    shape = shape_named(name)
    ordered = sorted(own, key=attrgetter("people"))  # of each device, most people come last
    target = _target(key, own)
    return (
        target,
        model_label(key),
        shape and float(f"{shape.parameters:.3g}"),
        bool(shape and shape.experts),
        sum({each.device: each.people for each in ordered}.values()),
        page == f"models/{target}/" or page,
    )


def _listed(
    asked: Sequence[ListedMachine], computers: Sequence[PlannedMachine]
) -> Iterator[tuple[object, ...]]:
    """Yield each machine's entry in the index; its free memory is known only for a single card."""
    known = {each.number: each.computer.devices for each in computers}
    for number, each in enumerate(asked):
        cards = known.get(number, ())
        free = int(cards[0].free_mib) if len(cards) == 1 else None
        yield each.name, each.gib and round(each.gib), each.kind, each.cards, free


def _file(
    key: str,
    name: str,
    machines: Sequence[PlannedMachine],
    pairs: Mapping[str, Sequence[PairFigure]],
    cache: Cache,
    kept_rows: Sequence[object],
) -> bytes:
    """The answer file of a model. Rows for machines without new results come from the cache."""
    texts: dict[str, int] = {}
    figures = [*_figures(pairs[key])]
    ref = read_model(name)
    target = model_meant(ref)
    rows: list[list[object]] = [[] for _ in range(1 + max(each.number for each in machines))]
    if target is not None:  # the shape of a reported model may be unknown
        model = ModelRows(ref, target, pairs, orjson.loads(cache.get(kept_rows) or b"{}"))
        for each, (values, words, quoted) in chain.from_iterable(map(model.rows, machines)):
            numbers = (w if w is None else texts.setdefault(w, len(texts)) for w in words)
            rows[each.number].append(
                [each.ram_gib, *values, *numbers, [*map(figures.index, quoted)]]
            )
        cache.put(kept_rows, orjson.dumps(model.used))
    return _document(
        model=_target(key, pairs[key]),
        name=name,
        columns=COLUMNS,
        answers=rows,
        texts=list(texts),
    )


def _figures(pairs: Iterable[PairFigure]) -> Iterator[Json]:
    """Yield a model's figures on all tasks and quantisations; rows have positions in this list."""
    yield from (evidence_of(x) for x in pairs if x.task == ALL_TASKS and x.quantisation is None)


def _document(**content: object) -> bytes:
    return orjson.dumps({"format": FORMAT, "version": VERSION, **content})
