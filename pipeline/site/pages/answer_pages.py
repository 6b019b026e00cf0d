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

from answers.acceptance import fitted
from answers.answer import Answer, answer
from answers.answer_json import evidence_of
from answers.catalog import model_meant
from answers.deciding import STRIP
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
from answers.sentences import template
from answers.sized_shapes import shape_named
from pipeline.cache import Cache
from pipeline.site.pages import evidence_file, launchers, strips
from pipeline.site.pages.answer_card import card_of
from pipeline.site.pages.answer_rows import COLUMNS, WORDS, ModelRows, PlannedMachine, machines_of
from pipeline.site.pages.model import Asset, Page, Site, answer_address, path_of, target_address
from pipeline.site.pages.template_environment import render
from pipeline.site.rows import grouped
from schemas.codec import Json
from schemas.vocabulary import say

# People's speedups with a method, by device, target and method: the large dots of the map's rows.
Dots = Mapping[tuple[str, str, str], Sequence[float]]
FORMAT, VERSION = "draftmap-answers", 4
FOLDER = "assets/answers"
# The places of these columns after "ram".
_METHOD, _PEOPLE, _QUANTISATION = (
    COLUMNS.index(name) - 1 for name in ("method", "people", "quantisation")
)
_COUNTED = re.compile(r"(?:(\d+) \N{MULTIPLICATION SIGN} )?(.*?)(?: \d+ gb)?")
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
    def place(self) -> tuple[bool, int]:
        """What decides the place in the list: whether the model fits, and the number of people."""
        judged = self.found.judged
        people = judged.figures.people if judged and judged.figures else 0
        return not self.found.asked.fits, -people

    @property
    def finding(self) -> str:
        """The verdict in words for a title, with the expected speedup."""
        judged = self.found.judged
        if not self.found.asked.fits:
            return "does not fit"
        if judged is None or judged.gain is None:
            return "no method can draft for it"
        return f"{FINDINGS[self.found.verdict]}, expected {say.times(judged.gain.estimate)}"


def common_answers(pairs: Iterable[PairFigure], rates: Sequence[Rate]) -> Sequence[CommonAnswer]:
    """The answers to the questions in `listed.toml`; those with figures of most people are first.

    Models that do not fit come last.
    """
    return sorted(_common(pairs, rates), key=attrgetter("place"))


def _common(pairs: Iterable[PairFigure], rates: Sequence[Rate]) -> Iterator[CommonAnswer]:
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
    drawn = strips.rows_by_method(connection)
    dots = {(row.device, row.target, row.method): row.dots for row in drawn}
    yield evidence_file.evidence_file(pairs)
    yield from answer_files(site, pairs, rates, addresses, dots)
    yield render("answers.md.jinja", path="answers/index.md", site=site, common=common)
    for each in common:
        key, judged = each.found.question.model, each.found.judged
        card = card_of(
            each.found,
            machine=each.machine,
            model=each.model,
            address=addresses.get(key),
            dots=dots_of(dots, judged.figures if judged else None),
        )
        yield render(
            "answer.md.jinja",
            path=path_of(each.address),
            site=site,
            card=card,
            each=each,
            common=[other for other in common if other is not each],
        )


def dots_of(dots: Dots, pair: PairFigure | None) -> Sequence[float]:
    return dots.get((pair.device, pair.target, pair.method), ()) if pair else ()


def answer_files(
    site: Site,
    pairs: Iterable[PairFigure],
    rates: Sequence[Rate],
    addresses: Mapping[str, str] = MappingProxyType({}),
    dots: Dots = MappingProxyType({}),
    only: Container[str] | None = None,
) -> Iterator[Asset]:
    """Yield an index, the map's figures by model, and the answer file of each model, or of some.

    Launchers have a file of names, and for each of these models one of their own.

    `addresses` maps a model's key to the address of its page; `only` has keys of models. A row has
    the dots of the figure that pulls its estimate.
    """
    by_model = grouped(pairs, attrgetter("model"))
    asked = tuple(listed_machines(chain(*by_model.values())))
    models = listed_models(by_model)
    computers = tuple(machines_of(asked, rates))
    on_map = launchers.devices_on_map(
        ((each.number, each.computer) for each in computers), chain(*by_model.values())
    )
    ids = launchers.device_ids(asked, on_map)
    machines = {ids[each.number]: each for each in computers}
    index = _document(
        machines=list(_listed(asked, computers, on_map)),
        processors=PROCESSORS,
        models=[
            _model(key, name, by_model.get(key, ()), addresses.get(key)) for key, name in models
        ],
        words=WORDS,
        decides=rules(),
    )
    yield Asset(path=f"{FOLDER}/index.json", data=index)
    about = {key: of_model(by_model, key) for key in by_model}
    figures = {_target(key, own): [*_figures(own)] for key, own in about.items()}
    yield Asset(path=f"{FOLDER}/figures.json", data=_document(figures=figures))
    targets = {key: _target(key, by_model.get(key, ())) for key, _ in models}
    named = ((each, targets[key]) for key, name in models for each in (model_label(key), name))
    yield launchers.names_file(zip(asked, ids, strict=True), named, site.as_of)
    for key, name in models:
        if only is not None and key not in only:
            continue
        own = {key: about.get(key, ())}
        drawn = [dots_of(dots, pair) for pair in _whole(own[key])]
        inputs = ["answers", key, name, ids, drawn, msgspec.to_builtins((own, rates))]
        rows = ["rows", key, name, msgspec.to_builtins(own)]
        site.cache.keep(rows)
        made = site.cache.get_or_make(
            inputs, partial(_files, (key, name), machines, own, drawn, site.cache, rows)
        )
        for_page, for_launchers = made.split(b"\n")
        yield Asset(path=f"{FOLDER}/{targets[key]}.json", data=for_page)
        yield launchers.model_file(targets[key], for_launchers, site.as_of)


def rules() -> Mapping[str, object]:
    """What `accepted.js` needs to compute what decides, and to say it."""
    known = fitted()
    names = ("even", "no-acceptance", "expected-acceptance", "strip")
    interval = {name: getattr(known, name) for name in ("reach", "spread", "apart")}
    return {"shares": STRIP, **interval, **{name: template(name) for name in names}}


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
        shape and int(float(f"{shape.parameters:.3g}")),
        bool(shape and shape.experts),
        sum({each.device: each.people for each in ordered}.values()),
        page == f"models/{target}/" or page,
    )


def _listed(
    asked: Sequence[ListedMachine],
    computers: Sequence[PlannedMachine],
    on_map: Mapping[int, str],
) -> Iterator[tuple[object, ...]]:
    """Yield each machine's entry in the index, whose free memory is known for a single card.

    Its cards, and its id on the map, are true if they follow from its name and its memory.
    """
    known = {each.number: each.computer.devices for each in computers}
    for number, each in enumerate(asked):
        cards, device = known.get(number, ()), on_map.get(number)
        free = int(cards[0].free_mib) if len(cards) == 1 else None
        gib, own = each.gib and round(each.gib), device == launchers.own_id(each)
        named = each.cards == _cards_in(each.name)
        yield each.name, gib, each.kind, named or each.cards, free, own or device


def _cards_in(name: str) -> str:
    """The cards that a machine's printed name states: `2 rtx 3090`, with the keys of cards."""
    count, card = _COUNTED.fullmatch(name.lower()).groups("1")  # type: ignore[union-attr]
    return f"{count} {card}"


def _files(
    model: tuple[str, str],
    machines: Mapping[str, PlannedMachine],
    pairs: Mapping[str, Sequence[PairFigure]],
    dots: Sequence[Sequence[float]],
    cache: Cache,
    kept_rows: Sequence[object],
) -> bytes:
    """The answer file of a model and, on a second line, the devices of its file for launchers.

    Rows for machines without new results come from the cache. A row has the positions of the map's
    figures of its machine, and that of the figure that pulls its estimate, whose `dots` it shows.
    """
    (key, name), texts = model, dict[str, int]()
    figures, drafting = [*_figures(pairs[key])], [each.method for each in _whole(pairs[key])]
    ref = read_model(name)
    target = model_meant(ref)
    rows: list[list[object]] = [[] for _ in range(1 + max(x.number for x in machines.values()))]
    devices: dict[str, object] = {}
    if target is not None:  # the shape of a reported model may be unknown
        known = ModelRows(ref, target, pairs, orjson.loads(cache.get(kept_rows) or b"{}"))
        for device, machine in machines.items():
            for each, (values, words, quoted, methods) in known.rows(machine):
                numbers = (w if w is None else texts.setdefault(w, len(texts)) for w in words)
                here = [*map(figures.index, quoted)]
                method, people = values[_METHOD], values[_PEOPLE]
                pulls = (at for at in here if people and drafting[at] == method)
                line = [each.ram_gib, *values, *numbers, here, next(pulls, None)]
                rows[each.number].append(line)
                if each is machine:
                    row = {"quantisation": values[_QUANTISATION], "methods": methods}
                    devices[device] = row
        cache.put(kept_rows, orjson.dumps(known.used))
    answers = _document(
        model=_target(key, pairs[key]),
        name=name,
        columns=COLUMNS,
        answers=rows,
        texts=list(texts),
        dots=dots,
    )
    return answers + b"\n" + orjson.dumps(devices)


def _figures(pairs: Iterable[PairFigure]) -> Iterator[Json]:
    """Yield a model's figures on all tasks and quantisations; rows have positions in this list."""
    yield from map(evidence_of, _whole(pairs))


def _whole(pairs: Iterable[PairFigure]) -> Iterator[PairFigure]:
    return (each for each in pairs if each.task == ALL_TASKS and each.quantisation is None)


def _document(**content: object) -> bytes:
    return orjson.dumps({"format": FORMAT, "version": VERSION, **content})
