"""The pages Explore and Compare, and the one small file of all cells that they work on.

It goes column by column. A facet is a column of few different values: the values stand once,
in the order in which a page offers them, and each row has the number of its value. A figure is
stored times its scale, so that what a page prints is what `format(value, f".{digits}f")` prints; a
missing one is null.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import duckdb
import orjson
import polars as pl
from polars import col

from pipeline.site.pages import commands, machine
from pipeline.site.pages.environment import render, task
from pipeline.site.pages.model import (
    Asset,
    Page,
    Site,
    device_address,
    submission_address,
    target_address,
)
from pipeline.site.rows import frame, read
from schemas.vocabulary import DEFAULT_RUNNER, RUNNERS, SIZES, TASKS, VERDICTS, say

FORMAT, VERSION = "draftmap-explore", 1
USUAL_ENGINE = RUNNERS[DEFAULT_RUNNER].engine_label
TOP = 40  # rows that stand in the page itself, for readers without JavaScript
VENDORS = {
    "nvidia": "NVIDIA",
    "amd": "AMD",
    "intel": "Intel",
    "apple": "Apple",
    "qualcomm": "Qualcomm",
    "other": "Other",
}
SETTING = (
    *("target_label", "quantisation", "draft_label", "method", "depth"),
    *("engine_label", "concurrency"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """A column of few values: key (for addresses), label (for people), and what sorts them.

    Whatever a facet sorts by, its key decides between equals. `more` are further texts by key.
    With `printed` the file has what this makes of the labels instead of keys and labels.
    """

    name: str
    key: pl.Expr
    label: pl.Expr | None = None
    order: pl.Expr | None = None
    more: Mapping[str, Callable[[str], str]] | None = None
    printed: Callable[[Any], str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A column of figures: how many digits are printed, and how many more serve sorting."""

    name: str
    value: pl.Expr
    digits: int
    spare: int = 0


def _named(column: str, labels: Mapping[str, str]) -> pl.Expr:
    return col(column).replace_strict(labels, return_dtype=pl.String)


def _placed(column: str, names: tuple[str, ...]) -> pl.Expr:
    """The place of a value in a list; what is not in it comes first."""
    places = {name: place for place, name in enumerate(names)}
    return col(column).replace_strict(places, default=-1, return_dtype=pl.Int64)


def _command(row: Mapping[str, Any]) -> str:
    """The line that measures a setting, but for its tasks."""
    return commands.measure([commands.setting_of(SimpleNamespace(**row, task="all"))])


FACETS = (
    Facet(
        name="device",
        key=col("device"),
        label=col("device_label"),
        order=col("device_label").str.to_lowercase(),
        more={"pages": device_address},
    ),
    Facet(
        name="vendor",
        key=col("vendor"),
        label=_named("vendor", VENDORS),
        order=_placed("vendor", tuple(VENDORS)),
    ),
    Facet(
        name="vram",
        key=col("vram_gib").cast(pl.String).fill_null("none"),
        label=pl.format("{} GB", col("vram_gib")).fill_null("no card"),
        order=col("vram_gib").fill_null(-1),
    ),
    Facet(name="backend", key=col("backend")),
    Facet(
        name="engine",
        key=col("engine_label").str.replace_all(" ", "-", literal=True),
        label=col("engine_label"),
        order=pl.when(col("engine_label") != USUAL_ENGINE)
        .then("engine_label")
        .otherwise(pl.lit("")),
    ),
    Facet(
        name="target",
        key=col("target"),
        label=col("target_label"),
        order=col("target_label").str.to_lowercase(),
        more={"pages": target_address},
    ),
    Facet(
        name="size",
        key=_named("size_class", {size.label: size.id for size in SIZES.values()}),
        label=col("size_class"),
        order=col("size_order"),
    ),
    Facet(name="quant", key=col("quantisation")),
    Facet(name="method", key=col("method"), label=col("method_label"), order=col("method_label")),
    Facet(
        name="depth",
        key=col("depth").cast(pl.String).fill_null("none"),
        label=col("depth").cast(pl.String).fill_null(say.UNKNOWN),
        order=col("depth").fill_null(0),
    ),
    Facet(
        name="crowd",  # as addresses have always called it
        key=col("concurrency").cast(pl.String),
        label=pl.when(col("concurrency") == 1)
        .then(pl.lit("one request"))
        .otherwise(pl.format("{} at once", col("concurrency"))),
        order=col("concurrency"),
    ),
    Facet(name="draft", key=col("draft_label").fill_null("")),
    Facet(
        name="task",
        key=col("task"),
        label=_named("task", {name: task(name) for name in ("all", *TASKS)}),
        order=_placed("task", tuple(TASKS)),
        more={"options": lambda name: f" --tasks {name}" if name in TASKS else ""},
    ),
    Facet(name="tier", key=col("tier"), order=col("tier") != "measured"),
    Facet(
        name="verdict",
        key=col("mark"),
        label=_named("verdict", {name: verdict.label for name, verdict in VERDICTS.items()}),
        order=_placed("verdict", tuple(VERDICTS)),
    ),
    Facet(name="setup", key=col("setup")),
    Facet(name="evidence", key=col("submission"), printed=submission_address),
    Facet(
        name="command",
        key=pl.concat_str(
            (col(name).cast(pl.String).fill_null("") for name in SETTING), separator="|"
        ),
        label=pl.struct(SETTING),
        printed=_command,
    ),
)
MEASURES = (
    Measure(name="speedup", value=col("speedup"), digits=2, spare=1),
    Measure(name="low", value=col("interval_low"), digits=2),
    Measure(name="high", value=col("interval_high"), digits=2),
    Measure(name="whole", value=col("whole_request"), digits=2),
    Measure(name="baseline", value=col("baseline_tps"), digits=1),
    Measure(name="tokens", value=col("tokens_per_round"), digits=2),
    Measure(name="cost", value=col("round_cost"), digits=2),
    Measure(name="accepted", value=col("acceptance_rate") * 100, digits=0),
    Measure(name="rigs", value=col("rigs"), digits=0),
    Measure(name="submissions", value=col("submissions"), digits=0),
)
# The filters of the page: facet and label.
FILTERS = {
    "task": "Task",
    "vram": "Video memory",
    "size": "Model size",
    "method": "Method",
    "backend": "Backend",
    "engine": "Engine",
    "verdict": "Verdict",
    "device": "Device",
    "vendor": "Vendor",
    "target": "Target model",
    "quant": "Quantisation",
    "depth": "Depth",
    "crowd": "Requests at once",
    "tier": "Evidence",
}


def explore(connection: duckdb.DuckDBPyConnection, site: Site) -> Iterator[Page | Asset]:
    """The pages with their first rows, and the file with all of them."""
    cells = frame(connection, "explore_cells")
    data = cells_file(cells) if len(cells) else None
    if data:
        yield data
    path = data.path if data else None
    rows = read(connection, "explore")
    measured = [row for row in rows if row.tier == "measured" and row.task != "all"]
    yield render(
        "explore.md.jinja",
        path="explore.md",
        site=site,
        data=path,
        machine_path=machine.PATH,
        filters=FILTERS,
        usual_engine=USUAL_ENGINE,
        total=len(measured),
        top=measured[:TOP],
        printed=read(connection, "published_squares"),
        losing=sum(row.verdict == "hurts" for row in measured),
    )
    yield render(
        "compare.md.jinja",
        path="compare.md",
        site=site,
        data=path,
        pairs=read(connection, "compared_backends"),
    )


def cells_file(cells: pl.DataFrame) -> Asset:
    """All cells column by column, under a name that changes with the content."""
    data = encode(cells, FACETS, MEASURES)
    name = hashlib.sha256(data).hexdigest()[:12]
    return Asset(path=f"assets/explore/cells.{name}.json", data=data)


def encode(rows: pl.DataFrame, facets: tuple[Facet, ...], measures: tuple[Measure, ...]) -> bytes:
    """The file of these rows. The same rows give the same bytes."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "rows": len(rows),
        "facets": {facet.name: _facet(rows, facet) for facet in facets},
        "figures": {measure.name: _measure(rows, measure) for measure in measures},
    }
    return orjson.dumps(document)


def scaled(value: float, digits: int, spare: int) -> int:
    """A figure times ten to the power of digits + spare, never over the edge of what is printed.

    Rounding 1.0449 to three digits and then to two would print 1.05 where SQL says 1.04.
    """
    printed = round(float(f"{value:.{digits}f}") * 10.0**digits)
    room = round(10.0**spare)
    exact = round(value * 10.0 ** (digits + spare))
    half = room // 2
    return min(max(exact, printed * room - half), printed * room + max(half - 1, 0))


def _facet(rows: pl.DataFrame, facet: Facet) -> Mapping[str, object]:
    found = rows.select(
        key=facet.key,
        label=facet.key if facet.label is None else facet.label,
        order=facet.key if facet.order is None else facet.order,
    )
    values = found.unique("key", keep="first", maintain_order=True).sort("order", "key")
    numbers = found.select("key").join(
        values.select("key").with_row_index("number"), on="key", how="left", maintain_order="left"
    )
    keys, labels = values["key"].to_list(), values["label"].to_list()
    if facet.printed is not None:
        keys = labels = list(map(facet.printed, labels))
    return {
        "keys": keys,
        **({} if labels == keys else {"labels": labels}),
        **{name: list(map(text_of, keys)) for name, text_of in (facet.more or {}).items()},
        "index": numbers["number"].to_list(),
    }


def _measure(rows: pl.DataFrame, measure: Measure) -> Mapping[str, object]:
    return {
        "digits": measure.digits,
        "spare": measure.spare,
        "values": [
            None if value is None else scaled(value, measure.digits, measure.spare)
            for value in rows.select(value=measure.value)["value"]
        ],
    }
