"""What did the tables teach the advisor? Reads the views 70 to 79 into the one value it needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import duckdb

from pipeline.site.advice.answer import depth_word, key
from pipeline.site.advice.model import (
    Choice,
    Knowledge,
    KnownDevice,
    KnownModel,
    PastError,
    Pool,
    Spread,
)
from pipeline.site.advice.reach import reach
from pipeline.site.pages.model import address_of, device_path, submission_path
from pipeline.site.pages.rows import grouped, read
from schemas.vocabulary import TASKS

DIGITS = 5  # of logarithms and variances: a hundredth of a permille of a speedup


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One voter, one setting, one task."""

    cell: str
    device: str
    device_label: str
    vram_gib: int | None
    backend: str
    target: str
    target_label: str
    quantisation: str
    quantisation_slug: str
    size_class: str
    size_order: int
    method: str
    method_label: str
    depth: int | None
    draft_label: str | None
    draft_slug: str
    draft_word: str | None
    target_word: str
    drafts_always: bool
    task: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolRow:
    advice_pool: str
    votes: int
    mean_log: float
    nearest: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadRow:
    left_out: str | None
    level: str
    method: str
    freedom: int
    variance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WideningRow:
    left_out: int | None
    method: str
    widening: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRow:
    cost_level: str | None
    yield_level: str | None
    predictions: int
    voters: int
    median_error: float
    high_error: float
    with_interval: int
    held: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRow:
    cell: str
    speedup: float | None
    interval_low: float | None
    interval_high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupRow:
    submission: str
    device_label: str
    backend: str
    target_label: str
    quantisation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRow:
    device: str
    backend: str
    target: str
    quantisation: str
    width: int
    step_ratio: float


def knowledge(connection: duckdb.DuckDBPyConnection) -> Knowledge:
    """Everything that the advisor was fitted to, from the tables alone."""
    seen = read(connection, Observation, "advice_observation")
    pools = read(connection, PoolRow, "advice_pool")
    asked = {row.task for row in seen}
    behind = {name: number for number, name in enumerate(_submissions(pools))}
    spreads = [row for row in read(connection, SpreadRow, "advice_spread") if row.left_out is None]
    widenings = {
        row.method: row.widening
        for row in read(connection, WideningRow, "advice_widening")
        if row.left_out is None
    }
    setups = {row.submission: row for row in read(connection, SetupRow, "setup")}
    return Knowledge(
        devices=tuple(_devices(seen)),
        models=tuple(_models(seen)),
        tasks=tuple((name, entry.label) for name, entry in TASKS.items() if name in asked),
        choices=tuple(_choices(seen)),
        pools={
            row.advice_pool: Pool(
                votes=row.votes,
                mean=round(row.mean_log, DIGITS),
                nearest=tuple(behind[name] for name in row.nearest),
            )
            for row in pools
        },
        spreads={
            f"{row.level}|{row.method}": Spread(
                variance=float(f"{row.variance * widenings.get(row.method, 1.0) ** 2:.{DIGITS}g}"),
                freedom=row.freedom,
            )
            for row in spreads
        },
        reaches={
            str(freedom): round(reach(freedom), DIGITS)
            for freedom in sorted({row.freedom for row in spreads})
        },
        errors=_errors(read(connection, ErrorRow, "advice_error")),
        submissions=tuple(_link(setups[name]) for name in behind),
        measured=_measured(seen, read(connection, CellRow, "cell")),
        steps=_steps(seen, read(connection, StepRow, "verification_curve")),
    )


def _submissions(pools: tuple[PoolRow, ...]) -> tuple[str, ...]:
    return tuple(sorted({name for row in pools for name in row.nearest}))


def _link(row: SetupRow) -> tuple[str, str]:
    label = f"{row.target_label} {row.quantisation} on {row.device_label}, {row.backend}"
    return address_of(submission_path(row.submission)), label


def _devices(seen: tuple[Observation, ...]) -> Iterator[KnownDevice]:
    for device, rows in sorted(grouped(seen, lambda row: row.device).items()):
        yield KnownDevice(
            id=device,
            label=rows[0].device_label,
            memory=rows[0].vram_gib,
            backends=tuple(sorted({row.backend for row in rows})),
            address=address_of(device_path(device)),
        )


def _models(seen: tuple[Observation, ...]) -> Iterator[KnownModel]:
    for name, rows in sorted(grouped(seen, _model_id).items()):
        first = rows[0]
        yield KnownModel(
            id=name,
            target=first.target,
            quantisation=first.quantisation_slug,
            label=f"{first.target_label} {first.quantisation}",
            size=first.size_order,
            word=first.target_word,
        )


def _model_id(row: Observation) -> str:
    return f"{row.target}|{row.quantisation_slug}"


def _choices(seen: tuple[Observation, ...]) -> Iterator[Choice]:
    """Every method, depth and draft that was measured, then every method and depth by itself."""
    for _, rows in sorted(grouped(seen, lambda r: key(r.method, r.depth, r.draft_slug)).items()):
        first = rows[0]
        yield Choice(
            method=first.method,
            label=first.method_label,
            depth=first.depth,
            scope="all" if first.drafts_always else "task",
            draft=first.draft_slug,
            draft_label=first.draft_label,
            draft_word=first.draft_word,
            targets=tuple(sorted({row.target for row in rows})),
        )
    for _, rows in sorted(grouped(seen, lambda r: key(r.method, r.depth)).items()):
        first = rows[0]
        yield Choice(
            method=first.method,
            label=first.method_label,
            depth=first.depth,
            scope="all" if first.drafts_always else "task",
        )


def _errors(rows: tuple[ErrorRow, ...]) -> dict[str, PastError]:
    return {
        key(row.cost_level, row.yield_level): PastError(
            predictions=row.predictions,
            voters=row.voters,
            median_error=round(row.median_error, DIGITS),
            high_error=round(row.high_error, DIGITS),
            with_interval=row.with_interval,
            held=None if row.held is None else round(row.held, DIGITS),
        )
        for row in rows
    }


def _measured(
    seen: tuple[Observation, ...], cells: tuple[CellRow, ...]
) -> dict[str, tuple[float, float | None, float | None]]:
    places = {
        row.cell: key(
            row.device,
            row.backend,
            row.target,
            row.quantisation_slug,
            row.draft_slug,
            row.method,
            depth_word(row.depth),
            row.task,
        )
        for row in seen
    }
    return {
        places[row.cell]: (
            round(row.speedup, DIGITS),
            None if row.interval_low is None else round(row.interval_low, DIGITS),
            None if row.interval_high is None else round(row.interval_high, DIGITS),
        )
        for row in cells
        if row.cell in places and row.speedup is not None
    }


def _steps(seen: tuple[Observation, ...], rows: tuple[StepRow, ...]) -> dict[str, float]:
    """The cost of a step by its width; of several campaigns the last."""
    slugs = {row.quantisation: row.quantisation_slug for row in seen}
    return {
        key(row.device, row.backend, row.target, slugs[row.quantisation], row.width): round(
            row.step_ratio, 3
        )
        for row in rows
        if row.quantisation in slugs
    }
