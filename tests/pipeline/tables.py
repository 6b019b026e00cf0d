"""Databases for tests: campaigns with given estimates, and small collections."""

import re
import shutil
from collections.abc import Container
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import msgspec

from estimates import identity
from estimates.model import Estimate, ExactnessCounts, Flag, Interval, Summary, Verdict
from estimates.verdicts import judge
from pipeline.collection.discover import Source, discover
from pipeline.collection.validation import AcceptedText, checked, combined
from pipeline.data import aggregate
from pipeline.data.database import open_database
from pipeline.data.load import AcceptedSubmission, load
from schemas.codec import canonical_bytes
from schemas.finding import Finding
from schemas.method import NO_SPECULATION, Method
from schemas.submission import Arm, Origin, Submission, Task
from tests.first_results import FIRST
from tests.samples import sample, sample_bytes

RESULTS = Path(__file__).resolve().parents[2] / "results"
DATA = Path(__file__).resolve().parents[1] / "data"
ARM = "draft-model-n4"
FIGURES = ("at_most", "baseline_tps", "tokens_per_round", "round_cost")  # of an estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A submission with its own summary."""

    submission: Submission
    summary: Summary
    preview: bool = False


def campaign(  # noqa: PLR0913 - a builder: each argument is one thing a test may want to vary
    speedup: float | None,
    *,
    within: tuple[float, float] | None = None,
    request: float | None = None,
    request_within: tuple[float, float] | None = None,
    verdict: Verdict | None = None,
    task: Task | None = "code",
    tier: str = "measured",
    depth: int = 4,
    flags: tuple[Flag, ...] = (),
    **more: Any,  # noqa: ANN401 - what `sample` takes, and `FIGURES`
) -> Example:
    """One submission with one estimate for one arm on one task.

    Its verdict follows from its intervals, unless one is given. `request` is the stated request.
    """
    figures = {name: more.pop(name) for name in FIGURES if name in more}
    whole = sample(tasks=("code",), prompts_per_task=1, blocks=1, **more)
    submission = replace(
        _with_one_arm(whole, depth),
        tier=tier,
        origin=Origin(format="inventivehq", sha256="0" * 64) if tier == "imported" else None,
    )
    interval, of_request = _interval(within), _interval(request_within)
    if verdict is None:
        verdict = judge(interval, of_request) if interval else "no-clear-difference"
    estimate = Estimate(
        arm=ARM, baseline="baseline", task=task, verdict=verdict, prompts=3, trials=12,
        failed_trials=0, speedup=speedup, interval=interval, stated_request=request,
        stated_request_interval=of_request, **figures,
        exactness=ExactnessCounts(identical=2, diverged_near_tie=1, diverged=1, not_compared=0),
    )  # fmt: skip
    return entry(submission, Summary(estimates=(estimate,), prompts=(), flags=flags))


def _interval(within: tuple[float, float] | None) -> Interval | None:
    return None if within is None else Interval(low=within[0], high=within[1])


def _with_one_arm(submission: Submission, depth: int) -> Submission:
    baseline = Arm(id="baseline", role="baseline", method=NO_SPECULATION)
    method = Method(type="draft-model", draft="tiny-q8-0", n_max=depth)
    arms = (baseline, Arm(id=ARM, role="speculation", method=method, baseline="baseline"))
    trials = tuple(trial for trial in submission.trials if trial.arm in {"baseline", ARM})
    return replace(submission, arms=arms, trials=trials)


def entry(submission: Submission, summary: Summary, *, preview: bool = False) -> Example:
    return Example(submission=submission, summary=summary, preview=preview)


def accepted(example: Example) -> AcceptedSubmission:
    """An example in the form for the loader, under its canonical name."""
    name = canonical_name(example.submission)
    return AcceptedSubmission(
        submission=name.removesuffix(".json"),
        file=name,
        preview=example.preview,
        document=sample_bytes(example.submission).decode(),
        identity=msgspec.json.encode(identity.identify(example.submission)),
        summary=msgspec.json.encode(example.summary),
    )


def canonical_name(submission: Submission) -> str:
    return identity.canonical_name(submission, sample_bytes(submission))


class Tables:
    """A connection whose tables are made when a query first names them; all 60 take a second."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._left = dict(aggregate.view_queries())
        aggregate.prepare(connection)

    def execute(self, query: str, parameters: object = None) -> duckdb.DuckDBPyConnection:
        self.make(query)
        return self._connection.execute(query, parameters)

    def sql(self, query: str, **more: Any) -> duckdb.DuckDBPyRelation:  # noqa: ANN401 - as DuckDB takes it
        self.make(query)
        return self._connection.sql(query, **more)

    def table(self, name: str) -> duckdb.DuckDBPyRelation:
        self.make(name)
        return self._connection.table(name)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever else DuckDB offers
        return getattr(self._connection, name)

    def make(self, query: str) -> None:
        """Make the tables that a query names, after the tables that they depend on."""
        everything = query == "show tables"
        wanted, chosen = {*(aggregate.view_queries() if everything else _words(query))}, []
        for name in reversed(aggregate.view_queries()):
            if name in wanted:
                wanted |= _sources(name)
                chosen.append(name)
        for name in reversed(chosen):
            if name in self._left:
                aggregate.make(self._connection, name, self._left.pop(name))


@cache
def _sources(name: str) -> frozenset[str]:
    """The tables that the query of a table names."""
    return _words(aggregate.view_queries()[name])


def _words(query: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", re.sub("--.*", "", query)))


def database(*entries: Example, new: Container[str] = ()) -> duckdb.DuckDBPyConnection:
    """The tables over these campaigns; maintainers know all contributors but the `new` ones."""
    names = {(each.submission.contributor or "").lower() for each in entries} - {""}
    known = [entry_on(name) for name in sorted(names) if name not in new]
    return Tables(load(map(accepted, entries), (), known, optimised=False))  # type: ignore[return-value]  # it stands for one


def known_results(folder: Path) -> Path:
    """A copy of the results for which expectations were written.

    Later submissions are left out: no accepted result may break a test.
    """
    first = {path.name for path in FIRST}

    def later(place: str, names: list[str]) -> list[str]:
        return [name for name in names if place.endswith("community") and name not in first]

    shutil.copytree(RESULTS, folder / "results", ignore=later)
    return folder / "results"


@cache
def real_database() -> duckdb.DuckDBPyConnection:
    """The known results of the repository, opened once per process; nobody changes it."""
    with TemporaryDirectory() as folder:
        return open_database(known_results(Path(folder)))


def whole_database(*entries: Example) -> duckdb.DuckDBPyConnection:
    """All tables, and the checks on them."""
    connection = load(map(accepted, entries), ())
    aggregate.aggregate(connection)
    return connection


def entry_on(contributor: str, status: str = "known") -> AcceptedText:
    """A maintainers' entry about a contributor."""
    document = {
        "format": "draftmap-lifecycle",
        "version": 1,
        "status": status,
        "date": "2026-11-21",
        "reason": "A maintainer looked at this account",
    }
    name = f"contributor--{contributor.lower()}.json"
    return AcceptedText(
        source=Source(path=Path(name), kind="lifecycle", place="corpus"),
        text=canonical_bytes(document).decode(),
    )


def decide_on(results: Path, *contributors: str, status: str = "known") -> None:
    """Write an entry about each contributor into a results folder."""
    (results / "lifecycle").mkdir(parents=True, exist_ok=True)
    for entry in (entry_on(name, status) for name in contributors):
        (results / "lifecycle" / entry.source.path).write_text(entry.text, encoding="utf-8")


def columns_of(connection: duckdb.DuckDBPyConnection) -> dict[str, dict[str, str]]:
    """The columns of every table that a query creates, with their types."""
    tables = {name: connection.table(name) for name in aggregate.view_queries()}
    return {
        name: dict(zip(table.columns, map(str, table.types), strict=True))
        for name, table in tables.items()
    }


PRINTED = """
    insert into published_rate by name
    select
      'articles' as source, $row as row_id, $row as place, 'published' as tier, $device as device,
      $device_label as device_label, 'gpu' as device_kind, $vram_gib as vram_gib,
      'cuda' as backend, $engine as engine_name, lower($target) as target, $target as target_label,
      'Q4_K_M' as quantisation, $parameters as parameters, 3 as size_order, $method as method,
      upper($method) as method_label, $depth as depth, $task as task, $speedup as speedup,
      $plain as baseline_tps, $person as contributor, $concurrency as concurrency,
      if($differs, ['Other traffic.'], []) as also_differs
"""
FIGURE: dict[str, Any] = {
    "device": "card", "device_label": "Card", "vram_gib": 8.0, "engine": "llama.cpp",
    "target": "M-8B", "parameters": 8e9, "method": "mtp", "depth": 2, "task": None, "plain": None,
    "concurrency": None, "differs": False,
}  # fmt: skip


def print_figures(
    connection: duckdb.DuckDBPyConnection, *figures: dict[str, Any]
) -> duckdb.DuckDBPyConnection:
    """Add published figures of an article, each a speedup by a person; `FIGURE` has the rest."""
    for number, figure in enumerate(figures):
        stated = {**FIGURE, "row": f"row-{number}", **figure}
        connection.execute(PRINTED, stated)
    for table, columns in (
        ("published_pair", "* exclude (concurrency, prompt_tokens) from published_rate"),
        ("published_row", "source, row_id from published_rate"),
        ("source", "'articles' as source, 'Articles' as title"),
    ):
        connection.execute(f"insert into {table} by name select {columns}")
    return connection


def findings(results: Path) -> list[Finding]:
    """The findings on all files of a results folder."""
    return combined((each, checked(each)) for each in discover(results)).findings


def rows(connection: duckdb.DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    return connection.execute(query).fetchall()


def one(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[Any, ...]:
    """The only row of a query."""
    (row,) = rows(connection, query)
    return row


def put(results: Path, submission: Submission) -> Path:
    """Write a submission into a results folder under its canonical name."""
    folder = results / "community"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / canonical_name(submission)
    path.write_bytes(sample_bytes(submission))
    return path


def small_corpus(results: Path) -> Path:
    """Two contributors on a GPU with two backends, and a processor; each with all eight tasks."""
    for seed, (gpu, backend, contributor) in enumerate(
        (
            ("NVIDIA GeForce RTX 4060", "cuda", "ada"),
            ("NVIDIA GeForce RTX 4060", "cuda", "bob"),
            ("NVIDIA GeForce RTX 4060", "vulkan", "ada"),
            (None, "cpu", "ada"),
        )
    ):
        put(
            results,
            sample(
                seed=seed, gpu=gpu, backend=backend, contributor=contributor, prompts_per_task=2
            ),
        )
    decide_on(results, "ada", "bob")
    return results
