"""Write the files of answers: an index, the answers of each model on all machines, for launchers.

The terminal gives the same answer to the same question (`--gpu` or `--cpu`, and a model's name).
All sentences and commands of `assets/answers/<model>.json` are written here; page scripts only look
them up. `answers` has the rows of each machine of the index. Each distinct string of such a file is
stored once, in `texts`; the map's figures, which scripts do not read, are in `figures.json`.
"""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from operator import attrgetter
from types import MappingProxyType

import msgspec
import orjson
from msgspec import structs

from pipeline.cache import Cache
from pipeline.site.pages import launchers
from pipeline.site.pages.answer_rows import COLUMNS, WORDS, ModelRows, PlannedMachine, machines_of
from pipeline.site.pages.model import Asset, Site
from pipeline.site.rows import grouped
from planner.acceptance import fitted
from planner.answer_json import evidence_of
from planner.catalog import model_meant
from planner.deciding import STRIP
from planner.evidence import ALL_TASKS, PairFigure, of_model, rig_of
from planner.kinds import machine_kind
from planner.listed import (
    PROCESSORS,
    ListedMachine,
    listed_machines,
    listed_models,
    model_label,
)
from planner.names import ModelRef, read_model
from planner.sentences import template
from planner.sized_shapes import shape_named
from schemas.codec import Json

# People's speedups with a method, by device, target and method: the large dots of the map's rows.
Dots = Mapping[tuple[str, str, str], Sequence[float]]
FORMAT, VERSION = "draftmap-answers", 4
FOLDER = "assets/answers"
# The places of these columns after "ram".
_METHOD, _PEOPLE = (COLUMNS.index(name) - 1 for name in ("method", "people"))
_COUNTED = re.compile(r"(?:(\d+) \N{MULTIPLICATION SIGN} )?(.*?)(?: \d+ gb)?")


def dots_of(dots: Dots, pair: PairFigure | None) -> Sequence[float]:
    return dots.get((pair.device, pair.target, pair.method), ()) if pair else ()


def answer_files(
    site: Site,
    pairs: Iterable[PairFigure],
    addresses: Mapping[str, str] = MappingProxyType({}),
    dots: Dots = MappingProxyType({}),
    only: Container[str] | None = None,
) -> Iterator[Asset]:
    """Yield an index, the map's figures by model, and the answer file of each model, or of some.

    `addresses` maps a model's key to the address of its page; `only` has keys of models. A row has
    the dots of the figure that pulls its estimate. Launchers have files of their own.
    """
    by_model = grouped(pairs, attrgetter("model"))
    models = listed_models(by_model)
    targets = {key: _target(key, by_model.get(key, ())) for key, _ in models}
    asked = tuple(listed_machines(chain(*by_model.values())))
    computers = tuple(machines_of(asked))
    on_map = launchers.devices_on_map(
        ((each.number, each.computer) for each in computers), chain(*by_model.values())
    )
    ids = launchers.device_ids(asked, on_map)
    machines = {ids[each.number]: each for each in computers}
    entries = [_model(key, by_model.get(key, ()), addresses.get(key)) for key, _ in models]
    index = {"machines": [*_listed(asked, computers, on_map)], "models": entries}
    about = _document(**index, processors=PROCESSORS, words=WORDS, decides=rules())
    yield Asset(path=f"{FOLDER}/index.json", data=about)
    figures = {_target(n, own): [*_figures(of_model(by_model, n))] for n, own in by_model.items()}
    yield Asset(path=f"{FOLDER}/figures.json", data=_document(figures=figures))
    named = ((each, targets[key]) for key, name in models for each in (model_label(key), name))
    yield launchers.names_file(zip(asked, ids, strict=True), named, site.as_of)
    presets = []
    for key, name in models:
        if only is None or key in only:
            own = {key: of_model(by_model, key)}
            drawn = [dots_of(dots, pair) for pair in _whole(own[key])]
            found = _kept_files(site.cache, (key, name), machines, own, drawn)
            yield Asset(path=f"{FOLDER}/{targets[key]}.json", data=found[0])
            yield launchers.model_file(targets[key], found[1], site.as_of)
            presets.append(found[2])
    yield from launchers.preset_files(presets, site.as_of)


def _kept_files(
    cache: Cache,
    model: tuple[str, str],
    machines: Mapping[str, PlannedMachine],
    own: Mapping[str, Sequence[PairFigure]],
    drawn: Sequence[Sequence[float]],
) -> Sequence[bytes]:
    """The parts of `_files`, from the cache if no figure and no machine has changed."""
    inputs = ["answers", model, [*machines], drawn, msgspec.to_builtins(own)]
    rows = ["rows", model, msgspec.to_builtins(own)]
    cache.keep(rows)
    made = cache.get_or_make(inputs, partial(_files, model, machines, own, drawn, cache, rows))
    return made.split(b"\n")


def rules() -> Mapping[str, object]:
    """The numbers and sentences from which `decides.js` and `accepted.js` compute what decides."""
    known = fitted()
    names = ("even", "no-acceptance", "expected-acceptance", "strip")
    deviation = {"spread": known.spread, "apart": known.apart}
    return {"shares": STRIP, **deviation, **{name: template(name) for name in names}}


def _target(key: str, own: Iterable[PairFigure]) -> str:
    """The id of a model in pages and data files: of the target that most people tried."""
    named = (pair for pair in own if pair.model == key)  # not another mode of the model
    tried = max(named, key=lambda pair: (pair.people, pair.target), default=None)
    return tried.target if tried else re.sub(r"[^a-z0-9]+", "-", key)


def _model(key: str, own: Sequence[PairFigure], page: str | None) -> tuple[object, ...]:
    """A model's id, label, parameters, whether it is a mixture, the number of people, and the page.

    The page is true if its address follows from the id, and its address if not. If several
    models fit a question, scripts choose the one of most people.
    """
    shape = shape_named(key)
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
    """Yield each machine's entry in the index.

    The last value is the reach of intervals with the visitor's acceptance.

    Its cards, and its id on the map, are true if they follow from its name and its memory.
    """
    known = {each.number: each.computer for each in computers}
    for number, each in enumerate(asked):
        computer, device = known.get(number), on_map.get(number)
        gib, own = each.gib and round(each.gib), device == launchers.own_id(each)
        named = each.cards == _cards_in(each.name)
        reach = computer and fitted().reach(machine_kind(rig_of(computer)))
        yield each.name, gib, each.kind, named or each.cards, own or device, reach


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
    """The answer file of a model and, on two more lines, its devices and presets for launchers.

    Rows for machines without new results come from the cache. A row has the positions of the map's
    figures of its machine, and that of the figure that pulls its estimate, whose `dots` it shows.
    """
    (key, name), texts = model, dict[str, int]()
    figures, drafting = [*_figures(pairs[key])], [each.method for each in _whole(pairs[key])]
    ref = read_model(name)
    target = model_meant(ref)
    rows: list[list[object]] = [[] for _ in range(1 + max(x.number for x in machines.values()))]
    devices, presets = dict[str, Sequence[int]](), dict[str, str]()
    classes, alike = [*_classes(ref, pairs)], dict[bytes, int]()
    kept = orjson.loads(cache.get(kept_rows) or b"{}")
    known = target and ModelRows(ref, target, pairs, kept)  # a reported shape may be unknown
    for device, machine in machines.items():
        for each, (values, words, quoted, preset) in known.rows(machine) if known else ():
            numbers = (w if w is None else texts.setdefault(w, len(texts)) for w in words)
            here = [*map(figures.index, quoted)]
            method, people = values[_METHOD], values[_PEOPLE]
            pulls = (at for at in here if people and drafting[at] == method)
            rows[each.number].append([each.ram_gib, *values, *numbers, here, next(pulls, None)])
            if each is machine and preset:
                presets[device] = preset
        methods = (orjson.dumps(each.methods(machine)) for each in classes)
        devices[device] = [alike.setdefault(each, len(alike)) for each in methods]
    cache.put(kept_rows, orjson.dumps(known.used if known else {}))
    about = {"model": _target(key, pairs[key]), "name": name, "columns": COLUMNS}
    answers = _document(**about, answers=rows, texts=list(texts), dots=dots)
    v1 = {"methods": [*map(orjson.Fragment, alike)], "devices": devices if classes else {}}
    return b"\n".join((answers, orjson.dumps(v1), orjson.dumps(presets)))


def _classes(ref: ModelRef, pairs: Mapping[str, Sequence[PairFigure]]) -> Iterator[ModelRows]:
    """The model in each quantisation of the files for launchers."""
    for quantisation in launchers.QUANTISATIONS.values():
        own = structs.replace(ref, quantisation=quantisation)
        if target := model_meant(own):
            yield ModelRows(own, target, pairs, {})


def _figures(pairs: Iterable[PairFigure]) -> Iterator[Json]:
    """Yield a model's figures on all tasks and quantisations; rows have positions in this list."""
    yield from map(evidence_of, _whole(pairs))


def _whole(pairs: Iterable[PairFigure]) -> Iterator[PairFigure]:
    return (each for each in pairs if each.task == ALL_TASKS and each.quantisation is None)


def _document(**content: object) -> bytes:
    return orjson.dumps({"format": FORMAT, "version": VERSION, **content})
