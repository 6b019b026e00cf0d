"""Build the tables and the touched pages with and without the files of a pull request.

What the build cannot take is refused before it is merged. The reply lists the figures and the
predictions that move. A published figure may move only its own device and model; a figure that no
maintainer has checked moves nothing, and the reply shows what it will move once it is checked.
"""

import json
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from itertools import islice
from math import log
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, Self, TypeAlias

import duckdb

from estimates.model import Flag
from pipeline.cache import Cache
from pipeline.data.database import open_database
from pipeline.errors import PipelineError
from pipeline.intake import git, paths
from pipeline.intake.paths import PUBLISHED
from pipeline.intake.reply import Claim, Effect, Move, Reply, Result, described
from pipeline.site.pages import evidence_file
from pipeline.site.pages.answer_files import FOLDER, answer_files
from pipeline.site.pages.answer_pages import common_answers
from pipeline.site.pages.answer_rows import COLUMNS
from pipeline.site.pages.device_and_model_pages import place_pages
from pipeline.site.pages.model import Site
from pipeline.site.rows import grouped
from planner.evidence import PairFigure
from planner.names import read_model
from schemas import contract
from schemas.finding import ROOT, Finding, bounded
from schemas.submission import Submission

MOST_MOVES = 20
# Errors of a build that a file causes; others, such as a full disk, end the program.
_FAULTS = (
    *(PipelineError, duckdb.Error, ValueError, ArithmeticError, LookupError),
    *(AttributeError, TypeError),
)
PREDICTION_SHARE = 0.02  # the most by which a figure may move a prediction for another model
Row: TypeAlias = tuple[object, ...]
Files: TypeAlias = Mapping[str, bytes]  # the contents of files by their paths

_FIGURES = """
    select
      device, target, task, scope, scope_label, condition, tier,
      if(contains(scope, 'backend'), backend, ''), if(contains(scope, 'method'), method, ''),
      device_label || ' + ' || target_label || ', ' || method_label as label, pair.*
    from pair
"""
# What unknown accounts alone measured is shown, but heads nothing.
_MEASURED = """
    select device, target, columns(* exclude (device, target)) from cell
    union all by name
    select device, target, place, scope, candidate, speedup, verdict from best where backing = 0
    order by all
"""
_KEY = 9  # the first columns, which identify a figure; then its label
_OWN = """
    select device, target, target_label from stated_rate
    where list_contains($names, source)
    union
    select device, target, target_label from setup
    where list_contains($names, submission)
"""
_CLAIMS = """
    select
      device_label || ' + ' || target_label || ', ' || method_label as what,
      speedup, contributor as person, row_url as address
    from stated_rate
    where list_contains($names, source)
    order by all
"""
_FLAGS = """
    select submission, flag as name, severity, message, remedy, arm, prompt
    from flag
    order by submission, position
"""


class _Figure(NamedTuple):
    label: str
    speedup: float
    row: Row


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Everything that the site derives from results: figures, predictions, and the rest."""

    figures: Mapping[Row, _Figure]
    pairs: tuple[PairFigure, ...]
    predictions: Mapping[tuple[str, str], float]
    measured: Mapping[Row, tuple[Row, ...]]
    lists: Row

    @classmethod
    def of(cls, connection: duckdb.DuckDBPyConnection) -> Self:
        pairs = tuple(evidence_file.pairs(connection))
        answers = common_answers(pairs)
        found = connection.sql(_FIGURES)
        at = found.columns.index("speedup")
        return cls(
            figures={
                row[:_KEY]: _Figure(row[_KEY], row[at], row[_KEY:]) for row in found.fetchall()
            },
            pairs=pairs,
            predictions={
                (each.machine, each.model): each.found.judged.gain.estimate
                for each in answers
                if each.found.judged is not None and each.found.judged.gain is not None
            },
            measured=grouped(connection.sql(_MEASURED).fetchall(), itemgetter(0, 1)),
            lists=tuple(
                connection.table(name).fetchall() for name in ("source", "speedup", "wanted")
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """The devices and models that new files are about: pairs, and keys of models."""

    pairs: frozenset[Row]
    models: frozenset[str]

    @classmethod
    def of(cls, connection: duckdb.DuckDBPyConnection, names: list[str]) -> Self:
        rows = connection.execute(_OWN, {"names": names}).fetchall()
        return cls(
            pairs=frozenset(row[:2] for row in rows),
            models=frozenset(read_model(label).slug for _, _, label in rows),
        )


def with_difference(clone: Path, answer: Reply) -> Reply:
    """Add to an accepted reply the difference that its files make, or the reason to refuse them."""
    if answer.decision != "accepted":
        return answer
    changes = git.changes(clone, answer.base, answer.head)
    new = dict(git.contents(clone, {each.path: each.blob for each in changes}))
    with TemporaryDirectory() as folder:
        git.export(clone, answer.base, "results", Path(folder))
        found = list(differences(Path(folder), new))
    wrong = tuple(each for each in found if isinstance(each, Finding))
    effect = next((each for each in found if isinstance(each, Effect)), None)
    results = tuple(each for each in found if isinstance(each, Result))
    answer = replace(answer, effect=effect, results=results or answer.results)
    if not wrong:
        return answer
    return replace(answer, decision="rejected", findings=bounded(wrong), finding_count=len(wrong))


@contextmanager
def with_files(folder: Path, files: Files) -> Iterator[None]:
    """Add files to a folder for a while."""
    for path, data in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    try:
        yield
    finally:
        for path in files:
            (folder / path).unlink()


def differences(
    folder: Path, new: Files, before: State | None = None
) -> Iterator[Effect | Result | Finding]:
    """The effect of new files on the folder's `results`, and new results, or the faults.

    `before` is the state without the new files, if it is known.
    """
    cache = Cache(folder / "cache")
    before = before or State.of(open_database(folder / "results", cache=cache))
    names = [Path(path).stem for path in new]
    checked = dict(_checked(new))
    try:
        if checked:
            with with_files(folder, new):
                after = State.of(open_database(folder / "results", cache=cache))
            if after != before:
                yield _fault(min(checked), "an unchecked figure moves others")
        with with_files(folder, {**new, **checked}):
            connection = open_database(folder / "results", cache=cache)
        after, own = State.of(connection), Own.of(connection, names)
        pages = {str(name) for pair in own.pairs for name in pair}
        site, pairs = Site(bundle="", cache=cache), evidence_file.pairs(connection)
        for _ in place_pages(connection, site, names=pages, pairs=pairs):
            pass  # only a failure matters
        answered = tuple(islice(_moved_answers(before, after, own.models, cache), MOST_MOVES))
        claims = connection.execute(_CLAIMS, {"names": names}).fetchall()
    except _FAULTS as error:
        message = f"the site cannot be built with this file ({type(error).__name__}: {error})"
        yield Finding(file=min(new), path=ROOT, message=message[:1000], rule="does-not-build")
        return
    if all(path.startswith(f"{PUBLISHED}/") for path in new):
        for words in moved_others(before, after, own):
            yield _fault(min(new), words)
    yield from _described(new, connection)
    yield Effect(
        is_checked=not checked,
        claims=tuple(Claim(*row) for row in claims[:MOST_MOVES]) or None,
        figures=tuple(_moves(before, after))[:MOST_MOVES] or None,
        predictions=answered or None,
    )


def _checked(new: Files) -> Iterator[tuple[str, bytes]]:
    """The unchecked published figures, as if a maintainer had checked them."""
    for path, data in new.items():
        if path.startswith(f"{PUBLISHED}/") and "checked_by" not in (own := json.loads(data)):
            yield path, json.dumps(own | {"checked_by": "nobody-yet"}).encode()


def _described(new: Files, connection: duckdb.DuckDBPyConnection) -> Iterator[Result]:
    """The new results, with the flags of a build, which compares them with all others."""
    read = ((path, contract.read(data)) for path, data in new.items() if paths.is_result(path))
    there = {path: each for path, each in read if isinstance(each, Submission)}
    flags = grouped(connection.execute(_FLAGS).fetchall(), itemgetter(0))
    named = [each.name for each in fields(Flag)]
    raised = {
        path: tuple(
            Flag(**dict(zip(named, row[1:], strict=True))) for row in flags[Path(path).stem]
        )
        for path in there
    }
    yield from described([*there], there, raised)


def moved_others(before: State, after: State, own: Own) -> Iterator[str]:
    """Whatever checked figures move beyond their own devices and models."""
    for key in before.figures.keys() | after.figures.keys():
        one, other = before.figures.get(key), after.figures.get(key)
        if one != other and key[:2] not in own.pairs:
            yield f"moves the figure of {one.label if one else key[0]}"
    for pair in (before.measured.keys() | after.measured.keys()) - own.pairs:
        if before.measured.get(pair) != after.measured.get(pair):
            yield f"moves a measured figure ({' with '.join(map(str, pair))})"
    for (machine, model), old in before.predictions.items():
        new = after.predictions.get((machine, model), old)
        if read_model(model).slug not in own.models and abs(new / old - 1) > PREDICTION_SHARE:
            yield f"moves the prediction for {machine} with {model} by more than 2 %"


def _moves(before: State, after: State) -> Iterator[Move]:
    """The figures over all tasks that differ, each by its device, its model and its method."""
    for key in sorted(before.figures.keys() | after.figures.keys(), key=repr):
        one, other = before.figures.get(key), after.figures.get(key)
        if key[2:6] == ("all", "method", "", None) and one != other:
            yield Move(
                (other or one).label,  # type: ignore[union-attr]  # one of them is there
                one and one.speedup,
                other and other.speedup,
            )


def _moved_answers(
    before: State, after: State, models: Container[str], cache: Cache
) -> Iterator[Move]:
    """The answers about these models that differ, on all machines; the largest changes first."""
    old, new = (dict(_answers(each, models, cache)) for each in (before, after))
    moved = [Move(what, old.get(what), each) for what, each in new.items() if old.get(what) != each]
    moved.sort(key=lambda each: (-abs(log((each.after or 1) / (each.before or 1))), each.what))
    yield from moved


def _answers(
    state: State, models: Container[str], cache: Cache
) -> Iterator[tuple[str, float | None]]:
    site = Site(bundle="", cache=cache)
    index, _, _, *files = answer_files(site, state.pairs, only=models)
    listed = json.loads(index.data)["machines"]
    machines = [
        f"{name} {gib:g} GB" if gib and kind == "gpu" else name for name, gib, kind, *_ in listed
    ]
    for answered in (json.loads(x.data) for x in files if x.path.startswith(FOLDER)):
        for machine, rows in zip(machines, answered["answers"], strict=True):
            for row in rows:
                yield f"{machine} with {answered['name']}", row[COLUMNS.index("speedup")]


def _fault(file: str, words: str) -> Finding:
    message = f"{words}; please tell a maintainer, because this is a fault of the project"
    return Finding(file=file, path=ROOT, message=message, rule="moves-others")
