"""The page of the advisor, and one file with everything that it was fitted to."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

import duckdb
import orjson

from estimates.intervals import t_reach
from pipeline.site.advice import (
    Advice,
    Choice,
    Knowledge,
    KnownDevice,
    KnownModel,
    PastError,
    Pool,
    Question,
    Spread,
    answers,
    depth_word,
    key,
)
from pipeline.site.pages import commands
from pipeline.site.pages.environment import render
from pipeline.site.pages.machine import machine_file
from pipeline.site.pages.model import Asset, Page, Site, device_address, submission_address
from pipeline.site.rows import Row, grouped, read
from schemas.vocabulary import METHODS, SIZES, TASKS

SHOWN = 12  # choices in the answer that is there without JavaScript
DIGITS = 5  # of logarithms and variances: a hundredth of a permille of a speedup
# What can be asked about before anybody has measured it; "not measured" is an answer too.
USUAL_GB = (2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 48)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """The question that the page opens with, and its answers."""

    device: KnownDevice
    model: KnownModel
    backend: str
    task: str
    answers: tuple[Advice, ...]


def advisor(connection: duckdb.DuckDBPyConnection, site: Site) -> Iterator[Page | Asset]:
    """The page and the file that it computes with."""
    known = knowledge(connection)
    data = orjson.dumps(known, option=orjson.OPT_SORT_KEYS)
    name = hashlib.sha256(data).hexdigest()[:12]
    file = Asset(path=f"assets/advisor/{name}.json", data=data)
    yield file
    machine = machine_file(connection, file.path)
    yield machine
    yield render(
        "advisor.md.jinja",
        path="advisor.md",
        site=site,
        known=known,
        knowledge_path=file.path,
        machine_path=machine.path,
        opening=opening(known),
        methods=tuple({choice.method: choice.label for choice in known.choices}.items()),
        memories=sorted({*USUAL_GB, *(d.memory for d in known.devices if d.memory)}),
        sizes=tuple(enumerate(size.label for size in SIZES.values() if not size.unknown)),
        error_rows=tuple((name.split("|"), error) for name, error in known.errors.items() if name),
        overall=known.errors.get(""),
    )


def opening(known: Knowledge) -> Opening | None:
    """The first device that a model was measured on, with that model and the first task."""
    for device in known.devices:
        for model in known.models:
            for backend in device.backends:
                place = key(device.id, backend, model.target, model.quantisation)
                if any(name.startswith(f"{place}|") for name in known.measured):
                    return _opened(known, device, model, backend)
    return None


def knowledge(connection: duckdb.DuckDBPyConnection) -> Knowledge:
    """Everything that the advisor was fitted to, from the tables alone."""
    seen = read(connection, "advice_observation")
    tasks = {row.task for row in seen}
    pools = read(connection, "advice_pool")
    names = sorted({name for row in pools for name in row.nearest})
    behind = {name: number for number, name in enumerate(names)}
    spreads = read(connection, "advice_spreads")
    setups = {row.submission: row for row in read(connection, "setup")}
    return Knowledge(
        devices=tuple(_devices(seen)),
        models=tuple(_models(seen)),
        tasks=tuple((each.id, each.label) for each in TASKS.values() if each.id in tasks),
        choices=tuple(_choices(seen)),
        pools={row.advice_pool: _pool(row, behind) for row in pools},
        spreads=_spreads(spreads),
        quantiles={
            str(freedom): round(t_reach(freedom), DIGITS)
            for freedom in sorted({row.freedom for row in spreads})
        },
        errors={
            key(row.cost_level, row.yield_level): _error(row)
            for row in read(connection, "advice_error")
        },
        submissions=tuple(_link(setups[name]) for name in behind),
        measured=_measured(connection),
        steps={
            key(row.device, row.backend, row.target, row.quantisation_slug, row.width): round(
                row.step_ratio, 3
            )
            for row in read(connection, "advised_steps")
        },
    )


def _pool(row: Row, behind: Mapping[str, int]) -> Pool:
    return Pool(
        votes=row.votes,
        mean=round(row.mean_log, DIGITS),
        nearest=tuple(behind[name] for name in row.nearest),
        bytes_mean=round(row.bytes_log, DIGITS),
        bytes_variance=round(row.bytes_variance, DIGITS),
    )


def _spreads(rows: Iterable[Row]) -> dict[str, Spread]:
    return {
        f"{row.level}|{row.method}": Spread(
            variance=float(f"{row.widened_variance:.{DIGITS}g}"), freedom=row.freedom
        )
        for row in rows
    }


def _measured(
    connection: duckdb.DuckDBPyConnection,
) -> dict[str, tuple[float, float | None, float | None]]:
    return {
        key(*_place(row), depth_word(row.depth), row.task): (
            round(row.speedup, DIGITS),
            _rounded(row.interval_low),
            _rounded(row.interval_high),
        )
        for row in read(connection, "advised_cells")
    }


def _opened(known: Knowledge, device: KnownDevice, model: KnownModel, backend: str) -> Opening:
    task = known.tasks[0][0]
    question = Question(
        backend=backend,
        size=model.size,
        task=task,
        device=device.id,
        memory=device.memory,
        model=model,
    )
    found = answers(known, question)[:SHOWN]
    return Opening(device=device, model=model, backend=backend, task=task, answers=found)


def _place(row: Row) -> tuple[str, ...]:
    where = (row.device, row.backend, row.target, row.quantisation_slug)
    return (*where, row.draft_slug, row.method)


def _link(row: Row) -> tuple[str, str]:
    label = f"{row.target_label} {row.quantisation} on {row.device_label}, {row.backend}"
    return submission_address(row.submission), label


def _devices(seen: Sequence[Row]) -> Iterator[KnownDevice]:
    for device, rows in sorted(grouped(seen, attrgetter("device")).items()):
        yield KnownDevice(
            id=device,
            label=rows[0].device_label,
            memory=rows[0].vram_gib,
            backends=tuple(sorted({row.backend for row in rows})),
            address=device_address(device),
        )


def _models(seen: Sequence[Row]) -> Iterator[KnownModel]:
    models = grouped(seen, lambda row: f"{row.target}|{row.quantisation_slug}")
    for name, (first, *_) in sorted(models.items()):
        label = f"{first.target_label} {first.quantisation}"
        yield KnownModel(
            id=name,
            target=first.target,
            quantisation=first.quantisation_slug,
            label=label,
            size=first.size_order,
            file=commands.file_of(label),
            step_bytes=first.step_bytes,
        )


def _choices(seen: Sequence[Row]) -> Iterator[Choice]:
    """Every method, depth and draft that was measured, then every method and depth by itself."""
    drafts = grouped(seen, lambda row: key(row.method, row.depth, row.draft_slug))
    for _, rows in sorted(drafts.items()):
        first = rows[0]
        yield _choice(
            first,
            draft=first.draft_slug,
            draft_label=first.draft_label,
            targets=tuple(sorted({row.target for row in rows})),
            draft_bytes=first.draft_bytes,
        )
    for _, (first, *_) in sorted(grouped(seen, lambda row: key(row.method, row.depth)).items()):
        yield _choice(first)


def _choice(
    row: Row,
    draft: str | None = None,
    draft_label: str | None = None,
    targets: tuple[str, ...] = (),
    draft_bytes: int | None = None,
) -> Choice:
    needed = "DRAFT" if METHODS[row.method].draft == "required" else None
    setting = commands.Setting(
        target="TARGET",
        draft=(draft_label or needed) if needed else None,
        method=row.method,
        depth=row.depth,
        engine=commands.LLAMA_CPP,
        tasks=("TASK",),
    )
    return Choice(
        method=row.method,
        label=row.method_label,
        depth=row.depth,
        scope="all" if row.drafts_always else "task",
        draft=draft,
        draft_label=draft_label,
        command=commands.template(setting),
        targets=targets,
        draft_bytes=draft_bytes,
    )


def _error(row: Row) -> PastError:
    return PastError(
        predictions=row.predictions,
        voters=row.voters,
        median_error=round(row.median_error, DIGITS),
        high_error=round(row.high_error, DIGITS),
        with_interval=row.with_interval,
        held=_rounded(row.held),
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)
