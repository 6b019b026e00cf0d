"""The file that predictions are made from, and the one behind "My machine" that names it."""

from collections.abc import Iterator, Mapping

import duckdb
import orjson

from estimates.engine_commands import LLAMA_CPP
from estimates.intervals import t_reach
from pipeline.site import advice
from pipeline.site.pages import shown_commands
from pipeline.site.pages.answer_data import machine_file
from pipeline.site.pages.model import (
    Asset,
    device_address,
    named_by_content,
    submission_address,
)
from pipeline.site.rows import Row, read
from schemas.vocabulary import METHODS, TASKS

DIGITS = 5  # of logarithms and variances: a hundredth of a permille of a speedup


def files(connection: duckdb.DuckDBPyConnection) -> Iterator[Asset]:
    data = orjson.dumps(knowledge(connection), option=orjson.OPT_SORT_KEYS)
    file = named_by_content("assets/advisor/{}.json", data)
    yield file
    yield machine_file(connection, file.path)


def knowledge(connection: duckdb.DuckDBPyConnection) -> advice.Knowledge:
    """Everything that predictions are made from, from the tables alone."""
    tasks = {task for (task,) in connection.table("advice_observation").select("task").fetchall()}
    pools = read(connection, "advice_pool")
    names = sorted({name for row in pools for name in row.nearest})
    behind = {name: number for number, name in enumerate(names)}
    spreads = read(connection, "advice_spreads")
    setups = {row.submission: row for row in read(connection, "setup")}
    return advice.Knowledge(
        devices=tuple(
            advice.KnownDevice(**row._asdict(), address=device_address(row.id))
            for row in read(connection, "advised_devices")
        ),
        models=tuple(
            advice.KnownModel(**row._asdict()) for row in read(connection, "advised_models")
        ),
        tasks=tuple((each.id, each.label) for each in TASKS.values() if each.id in tasks),
        choices=tuple(
            advice.Configuration(**row._asdict(), command=_command(row))
            for row in read(connection, "advised_choices")
        ),
        pools={row.advice_pool: _pool(row, behind) for row in pools},
        spreads={
            f"{row.level}|{row.method}": advice.Spread(
                variance=float(f"{row.widened_variance:.{DIGITS}g}"), freedom=row.freedom
            )
            for row in spreads
        },
        quantiles={
            str(freedom): round(t_reach(freedom), DIGITS)
            for freedom in sorted({row.freedom for row in spreads})
        },
        errors={
            advice.key(row.cost_level, row.yield_level): _error(row)
            for row in read(connection, "advice_error")
        },
        submissions=tuple(_link(setups[name]) for name in behind),
        measured=dict(map(_measured, read(connection, "advised_cells"))),
    )


def _command(choice: Row) -> str | None:
    """The line that measures a choice, with stand-ins for target, task and an unnamed draft."""
    needed = "DRAFT" if METHODS[choice.method].draft == "required" else None
    return shown_commands.template(
        shown_commands.NamedSetting(
            target="TARGET",
            draft=(choice.draft_label or needed) if needed else None,
            method=choice.method,
            depth=choice.depth,
            engine=LLAMA_CPP,
            tasks=("TASK",),
        )
    )


def _pool(row: Row, behind: Mapping[str, int]) -> advice.Pool:
    return advice.Pool(
        votes=row.votes,
        mean=round(row.mean_log, DIGITS),
        nearest=tuple(behind[name] for name in row.nearest),
        bytes_mean=round(row.bytes_log, DIGITS),
        bytes_variance=round(row.bytes_variance, DIGITS),
    )


def _measured(row: Row) -> tuple[str, advice.MeasuredHere]:
    key = advice.key(
        *(row.device, row.backend, row.target, row.quantisation_slug),
        *(row.draft_slug, row.method, advice.depth_word(row.depth), row.task),
    )
    bounds = _rounded(row.interval_low), _rounded(row.interval_high)
    return key, (round(row.speedup, DIGITS), *bounds, _rounded(row.stated_request))


def _link(row: Row) -> tuple[str, str]:
    label = f"{row.target_label} {row.quantisation} on {row.device_label}, {row.backend}"
    return submission_address(row.submission), label


def _error(row: Row) -> advice.PastError:
    return advice.PastError(
        predictions=row.predictions,
        voters=row.voters,
        median_error=round(row.median_error, DIGITS),
        high_error=round(row.high_error, DIGITS),
        with_interval=row.with_interval,
        held=_rounded(row.held),
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)
