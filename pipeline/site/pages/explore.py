"""Write the page Explore: a file with all cells, and filters."""

from collections.abc import Iterable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import duckdb
import polars as pl
from polars import col

from estimates.gpu_names import vendor_of
from pipeline.site.pages import shown_commands
from pipeline.site.pages.answer_card import CLEAR
from pipeline.site.pages.columnar import Facet, Measure, encode, named, placed
from pipeline.site.pages.model import (
    Asset,
    Page,
    Site,
    device_address,
    named_by_content,
    submission_address,
    target_address,
)
from pipeline.site.pages.template_environment import render, task
from pipeline.site.rows import frame, read
from schemas.vocabulary import DEFAULT_RUNNER, RUNNERS, SIZES, TASKS, VERDICTS, say
from schemas.vocabulary.documents import document

ALL_TASKS, UNSTATED = "all", "unstated"
NO_INTERVAL = "no-interval"  # in place of a verdict
PUBLISHED = "published"
WHOLE_FROM_TPS = 1000  # a rate with four digits has no decimals
DEFAULT_ENGINE = RUNNERS[DEFAULT_RUNNER].engine_label
VENDORS = {
    "nvidia": "NVIDIA",
    "amd": "AMD",
    "intel": "Intel",
    "apple": "Apple",
    "qualcomm": "Qualcomm",
    "other": "Other",
}
LOSSES = ("hurts-confirmed", "hurts", "slower-in-all")
TOP = 25  # rows in the page itself, for readers without JavaScript
FILTERS, MORE, AXES = document("explore", "pipeline.site").values()
SETTING = (
    *("target_label", "quantisation", "draft_label", "method", "depth"),
    *("engine_label", "concurrency"),
)


def _rate(column: str) -> pl.Expr:
    """A rate rounded as `say.rate` rounds it, so that a script prints the same text."""
    rate = col(column)
    return pl.when(rate < WHOLE_FROM_TPS).then(rate.round_sig_figs(3)).otherwise(rate.round(0))


def task_label(name: str) -> str:
    """The label of a figure's task; public sources rarely state the task."""
    return "not stated" if name == UNSTATED else task(name)


def evidence_address(name: str) -> str:
    """The address of a row's source: `name` if it is an address, else the submission's page."""
    return name if "/" in name else submission_address(name)


def _command(row: Mapping[str, Any]) -> str:
    """The command that measures a cell again; empty for figures from public sources."""
    if row["tier"] == PUBLISHED:
        return ""
    return shown_commands.measure([shown_commands.setting_of(SimpleNamespace(**row, task="all"))])


def _axis(name: str, label: pl.Expr, order: pl.Expr | None = None, default: str = "usual") -> Facet:
    """A facet for a setting that is rarely changed; null is shown as `default` and comes first."""
    text = label.cast(pl.String)
    first = pl.when(label.is_null()).then(-1).otherwise(0 if order is None else order)
    return Facet(name=name, key=text.fill_null(default), order=first)


AXIS_FACETS = (
    _axis("suite", col("suite_label"), default="first"),
    _axis("context", col("context_depth"), col("context_depth")),
    _axis("sampling", col("token_choice")),
    _axis("answers", col("answer_limit")),
    _axis("cache", col("cache_types")),
    _axis("attention", col("attention")),
    _axis("loading", col("loading")),
    _axis("conditions", col("conditions")),
)
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
        label=named("vendor", VENDORS),
        order=placed("vendor", tuple(VENDORS)),
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
        order=pl.when(col("engine_label") != DEFAULT_ENGINE)
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
        key=named("size_class", {size.label: size.id for size in SIZES.values()}),
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
        name="concurrency",
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
        label=named("task", {name: task_label(name) for name in (ALL_TASKS, *TASKS, UNSTATED)}),
        order=placed("task", (*TASKS, UNSTATED)),
        more={"options": lambda name: f" --tasks {name}" if name in TASKS else ""},
    ),
    Facet(name="tier", key=col("tier"), order=col("tier") != "measured"),
    Facet(
        name="verdict",
        key=col("mark").fill_null(NO_INTERVAL),
        label=named("mark", {name: verdict.label for name, verdict in VERDICTS.items()}).fill_null(
            NO_INTERVAL.replace("-", " ")
        ),
        order=placed("mark", tuple(VERDICTS)),
    ),
)
# Links of a row; nearly every row has different links.
LINKS = (
    Facet(name="evidence", key=col("submission"), printed=evidence_address),
    Facet(
        name="command",
        key=pl.concat_str(
            *(col(name).cast(pl.String).fill_null("") for name in SETTING),
            col("measured_with").list.join(" "),
            "tier",
            separator="|",
        ),
        label=pl.struct(*SETTING, "measured_with", "tier"),
        printed=_command,
    ),
)
MEASURES = (
    Measure(name="speedup", value=col("speedup"), digits=2, spare=1),
    Measure(name="low", value=col("interval_low"), digits=2),
    Measure(name="high", value=col("interval_high"), digits=2),
    Measure(name="whole", value=col("stated_request"), digits=2),
    Measure(name="whole_low", value=col("stated_request_low"), digits=2),
    Measure(name="whole_high", value=col("stated_request_high"), digits=2),
    Measure(name="at_most", value=col("at_most"), digits=0),
    Measure(name="baseline", value=_rate("baseline_tps"), digits=3),
    Measure(name="rate", value=_rate("tps"), digits=3),
    Measure(name="tokens", value=col("tokens_per_round"), digits=2),
    Measure(name="cost", value=col("round_cost"), digits=2),
    Measure(name="accepted", value=col("acceptance_rate") * 100, digits=0),
    Measure(name="rigs", value=col("rigs"), digits=0),
    Measure(name="submissions", value=col("submissions"), digits=0),
)


def explore(connection: duckdb.DuckDBPyConnection, site: Site) -> Iterator[Page | Asset]:
    cells = with_vendors(frame(connection, "explore_cells"))
    files = [cells_file(cells)] if len(cells) else []
    yield from files
    single = cells.filter(col("task") != ALL_TASKS)
    measured = single.filter(tier="measured")
    yield render(
        "explore.md.jinja",
        path="explore.md",
        site=site,
        data=files[0].path if files else None,
        filters=FILTERS,
        more_filters=MORE | {name: AXES[name] for name in axes_of(cells) if name in AXES},
        default_engine=DEFAULT_ENGINE,
        published=PUBLISHED,
        task_label=task_label,
        measured=len(measured),
        printed=single.filter(tier=PUBLISHED).height,
        single=len(single),
        top=[SimpleNamespace(**row) for row in single.head(TOP).iter_rows(named=True)],
        sources=read(connection, "sources"),
        losing=measured.filter(col("verdict").is_in(LOSSES)).height,
        directions=directions(single["speedup"]),
    )


def with_vendors(cells: pl.DataFrame) -> pl.DataFrame:
    """Fill in missing vendors by device name, because public sources name only the card."""
    names = {label: vendor_of(label) for label in cells["device_label"].unique()}
    named = col("device_label").replace_strict(names, return_dtype=pl.String)
    return cells.with_columns(col("vendor").fill_null(named)) if names else cells


def directions(speedups: Iterable[float | None]) -> dict[str, int]:
    """Count losses, near-even speedups and gains, by the same threshold as on answer cards."""
    known = [each for each in speedups if each is not None]
    slower = sum(each < 1 / CLEAR for each in known)
    faster = sum(each > CLEAR for each in known)
    return {"hurts": slower, "even": len(known) - slower - faster, "helps": faster}


def cells_file(cells: pl.DataFrame) -> Asset:
    """The file with all cells, whose name changes with its content; 25 KB per 1,000 cells."""
    data = encode(cells, (*FACETS, *axes_of(cells).values(), *LINKS), MEASURES)
    return named_by_content("assets/explore/cells.{}.json", data)


def axes_of(cells: pl.DataFrame) -> Mapping[str, Facet]:
    """The axes on which cells differ; any other axis would be a filter with a single choice."""
    return {
        facet.name: facet for facet in AXIS_FACETS if cells.select(facet.key.n_unique()).item() > 1
    }
