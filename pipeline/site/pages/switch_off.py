"""Write advice on when to switch speculation off: `assets/switch-off.json` and a page section."""

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple

import duckdb
import orjson

from estimates.model import ESTIMATOR
from estimates.requests import STATED_ANSWER_TOKENS
from pipeline.site.pages import model
from pipeline.site.rows import Row, grouped, read
from schemas.codec import Json, rounded

PATH = "assets/switch-off.json"
FORMAT, VERSION = "draftmap-switch-off", 1
DIGITS = 4
SETTING = (
    *("device", "device_label", "backend", "engine_label", "target", "target_label"),
    *("quantisation", "method", "depth", "draft_label", "tier"),
)
NAMES = {
    "engine_label": "engine",
    "target": "model",
    "target_label": "model_label",
    "draft_label": "draft",
}


def switch_off_file(connection: duckdb.DuckDBPyConnection) -> model.Asset:
    """The file `switch-off.json`, as `schemas/switch_off.v1.schema.json` describes it."""
    document: Json = {
        "format": FORMAT,
        "version": VERSION,
        "estimator": ESTIMATOR,
        "stated_tokens": STATED_ANSWER_TOKENS,
        "settings": list(map(_setting, clear_cases(read(connection, "switch_off")))),
    }
    return model.Asset(path=PATH, data=orjson.dumps(rounded(document, DIGITS)))


class ClearCases(NamedTuple):
    """One setting with its clear gains and losses."""

    setting: Row
    gains: tuple[Row, ...]
    loses: tuple[Row, ...]
    streams_from: int | None
    context_from: int | None


def clear_cases(rows: Iterable[Row]) -> tuple[ClearCases, ...]:
    """Every setting with a clear result; a page shows those that lose somewhere."""
    return tuple(
        ClearCases(
            setting=own[0],
            gains=tuple(row for row in own if row.effect == "gains"),
            loses=tuple(row for row in own if row.effect == "loses"),
            streams_from=streams_from(own),
            context_from=context_from(own),
        )
        for own in grouped(rows, attrgetter(*SETTING)).values()
    )


def streams_from(rows: Sequence[Row]) -> int | None:
    """The lowest concurrency above 1 from which all clear results are losses, else `None`.

    Only results without a context depth count.
    """
    return _from([(row.concurrency, row.effect) for row in rows if not row.context_depth], 1)


def context_from(rows: Sequence[Row]) -> int | None:
    """The shortest context in tokens from which all clear results are losses, else `None`.

    Only results of single requests count, and the context must be longer than 0 tokens.
    """
    return _from([(row.context_depth or 0, row.effect) for row in rows if row.concurrency == 1], 0)


def _from(cases: Iterable[tuple[int, str]], least: int) -> int | None:
    """The smallest amount with a loss, above `least` and every amount with a gain; else `None`."""
    cases = tuple(cases)
    gained = max((amount for amount, effect in cases if effect == "gains"), default=least)
    lost = [amount for amount, effect in cases if effect == "loses" and amount > gained]
    return min(lost, default=None)


def _setting(each: ClearCases) -> Json:
    return {
        **{NAMES.get(name, name): getattr(each.setting, name) for name in SETTING},
        "streams_from": each.streams_from,
        "context_from": each.context_from,
        "gains": list(map(_case, each.gains)),
        "loses": list(map(_case, each.loses)),
    }


def _case(row: Row) -> Json:
    return {
        "task": row.task,
        "streams": row.concurrency,
        "context_tokens": row.context_depth,
        "speedup": row.speedup,
        "interval": _pair(row.interval_low, row.interval_high),
        "request": row.stated_request,
        "request_interval": _pair(row.stated_request_low, row.stated_request_high),
        "answer_from_tokens": row.pays_from_tokens,
        "answer_from_interval": _pair(row.pays_from_low, row.pays_from_high),
        "people": row.contributors,
        "measured_on": f"{row.last_measured:%Y-%m-%d}",
        "cell": row.cell,
        "evidence": model.submission_address(row.submission),
    }


def _pair(low: float | None, high: float | None) -> Json:
    return None if low is None and high is None else [low, high]
