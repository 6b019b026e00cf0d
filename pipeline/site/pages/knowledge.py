"""Everything that the advisor was fitted to, from the tables alone."""

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter

import duckdb

from estimates.commands import LLAMA_CPP
from estimates.intervals import t_reach
from pipeline.site.advice import (
    Configuration,
    Knowledge,
    KnownDevice,
    KnownModel,
    MeasuredHere,
    PastError,
    Pool,
    Spread,
    depth_word,
    key,
)
from pipeline.site.pages import commands
from pipeline.site.pages.model import device_address, submission_address
from pipeline.site.rows import Row, grouped, read
from schemas.vocabulary import METHODS, TASKS

DIGITS = 5  # of logarithms and variances: a hundredth of a permille of a speedup


def knowledge(connection: duckdb.DuckDBPyConnection) -> Knowledge:
    """Everything that the advisor was fitted to, from the tables alone."""
    seen = read(connection, "advised_settings")
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
        spreads={
            f"{row.level}|{row.method}": Spread(
                variance=float(f"{row.widened_variance:.{DIGITS}g}"), freedom=row.freedom
            )
            for row in spreads
        },
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


def _measured(
    connection: duckdb.DuckDBPyConnection,
) -> dict[str, MeasuredHere]:
    return {
        key(
            *(row.device, row.backend, row.target, row.quantisation_slug),
            *(row.draft_slug, row.method, depth_word(row.depth), row.task),
        ): (
            round(row.speedup, DIGITS),
            _rounded(row.interval_low),
            _rounded(row.interval_high),
            _rounded(row.stated_request),
        )
        for row in read(connection, "advised_cells")
    }


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


def _choices(seen: Sequence[Row]) -> Iterator[Configuration]:
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
) -> Configuration:
    needed = "DRAFT" if METHODS[row.method].draft == "required" else None
    setting = commands.NamedSetting(
        target="TARGET",
        draft=(draft_label or needed) if needed else None,
        method=row.method,
        depth=row.depth,
        engine=LLAMA_CPP,
        tasks=("TASK",),
    )
    return Configuration(
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
