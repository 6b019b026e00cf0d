"""What has been measured, cell by cell? The pages Explore and Compare, and the file behind them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import duckdb

from pipeline.site.pages.cells import Cell
from pipeline.site.pages.columnar import Facet, Measure, encode
from pipeline.site.pages.compare import compare
from pipeline.site.pages.environment import render, task
from pipeline.site.pages.model import Asset, Page, Site, address_of, submission_path
from pipeline.site.pages.rows import read
from schemas.vocabulary import DEFAULT_RUNNER, RUNNERS, SIZES, TASKS, VERDICTS, say

USUAL_ENGINE = RUNNERS[DEFAULT_RUNNER].engine_label
SIZE_KEYS = {size.label: size.id for size in SIZES.values()}
TOP = 40  # rows that stand in the page itself, for readers without JavaScript
VENDORS = {
    "nvidia": "NVIDIA",
    "amd": "AMD",
    "intel": "Intel",
    "apple": "Apple",
    "qualcomm": "Qualcomm",
    "other": "Other",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreRow(Cell):
    """One cell with what the filters need, and its newest submission."""

    setup: str
    submission: str
    vendor: str
    vram_gib: int | None
    size_class: str
    size_order: int

    @property
    def evidence_address(self) -> str:
        """The page that shows this cell's newest evidence."""
        return address_of(submission_path(self.submission))


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """One filter of the page; `every` is what it says when nothing is chosen."""

    name: str
    label: str
    every: str = "Any"


# Whatever a facet sorts by, its key comes last: two values never stand in an order of chance.
FACETS = (
    Facet(
        name="device",
        key=lambda row: row.device,
        label=lambda row: row.device_label,
        order=lambda row: (row.device_label.lower(), row.device),
        page=lambda row: row.device_address,
    ),
    Facet(
        name="vendor",
        key=lambda row: row.vendor,
        label=lambda row: VENDORS[row.vendor],
        order=lambda row: list(VENDORS).index(row.vendor),
    ),
    Facet(
        name="vram",
        key=lambda row: _text(row.vram_gib),
        label=lambda row: f"{row.vram_gib} GB" if row.vram_gib is not None else "no card",
        order=lambda row: row.vram_gib if row.vram_gib is not None else -1,
    ),
    Facet(
        name="backend",
        key=lambda row: row.backend,
        label=lambda row: row.backend,
        order=lambda row: row.backend,
    ),
    Facet(
        name="engine",
        key=lambda row: row.engine_label.replace(" ", "-"),
        label=lambda row: row.engine_label,
        order=lambda row: (row.engine_label != USUAL_ENGINE, row.engine_label),
    ),
    Facet(
        name="target",
        key=lambda row: row.target,
        label=lambda row: row.target_label,
        order=lambda row: (row.target_label.lower(), row.target),
        page=lambda row: row.target_address,
    ),
    Facet(
        name="size",
        key=lambda row: SIZE_KEYS[row.size_class],
        label=lambda row: row.size_class,
        order=lambda row: row.size_order,
    ),
    Facet(
        name="quant",
        key=lambda row: row.quantisation,
        label=lambda row: row.quantisation,
        order=lambda row: row.quantisation,
    ),
    Facet(
        name="method",
        key=lambda row: row.method,
        label=lambda row: row.method_label,
        order=lambda row: (row.method_label, row.method),
    ),
    Facet(
        name="depth",
        key=lambda row: _text(row.depth),
        label=lambda row: str(row.depth) if row.depth is not None else say.UNKNOWN,
        order=lambda row: row.depth or 0,
    ),
    Facet(
        name="crowd",
        key=lambda row: str(row.concurrency),
        label=lambda row: "one request" if row.concurrency == 1 else f"{row.concurrency} at once",
        order=lambda row: row.concurrency,
    ),
    Facet(
        name="draft",
        key=lambda row: row.draft_label or "",
        label=lambda row: row.draft_label or "",
        order=lambda row: row.draft_label or "",
    ),
    Facet(
        name="task",
        key=lambda row: row.task,
        label=lambda row: task(row.task),
        order=lambda row: list(TASKS).index(row.task) if row.task in TASKS else -1,
    ),
    Facet(
        name="tier",
        key=lambda row: row.tier,
        label=lambda row: row.tier,
        order=lambda row: row.tier != "measured",
    ),
    Facet(
        name="verdict",
        key=lambda row: row.verdict,
        label=lambda row: VERDICTS[row.verdict].label,
        order=lambda row: list(VERDICTS).index(row.verdict),
    ),
    Facet(
        name="setup",
        key=lambda row: row.setup,
        label=lambda row: row.setup,
        order=lambda row: row.setup,
    ),
    Facet(
        name="evidence",
        key=lambda row: row.evidence_address,
        label=lambda row: row.evidence_address,
        order=lambda row: row.submission,
    ),
)
MEASURES = (
    Measure(name="speedup", value=lambda row: row.speedup, digits=2, spare=1),
    Measure(name="low", value=lambda row: row.interval_low, digits=2),
    Measure(name="high", value=lambda row: row.interval_high, digits=2),
    Measure(name="baseline", value=lambda row: row.baseline_tps, digits=1),
    Measure(name="tokens", value=lambda row: row.tokens_per_round, digits=2),
    Measure(name="cost", value=lambda row: row.round_cost, digits=2),
    Measure(name="accepted", value=lambda row: _percent(row.acceptance_rate), digits=0),
    Measure(name="rigs", value=lambda row: row.rigs, digits=0),
    Measure(name="submissions", value=lambda row: row.submissions, digits=0),
)
FILTERS = (
    Filter(name="task", label="Task", every="Each task"),
    Filter(name="vram", label="Video memory"),
    Filter(name="size", label="Model size"),
    Filter(name="method", label="Method"),
    Filter(name="backend", label="Backend"),
    Filter(name="engine", label="Engine"),
    Filter(name="verdict", label="Verdict"),
    Filter(name="device", label="Device"),
    Filter(name="vendor", label="Vendor"),
    Filter(name="target", label="Target model"),
    Filter(name="quant", label="Quantisation"),
    Filter(name="depth", label="Depth"),
    Filter(name="crowd", label="Requests at once"),
    Filter(name="tier", label="Evidence", every="measured"),
)


def explore(connection: duckdb.DuckDBPyConnection, site: Site) -> Iterator[Page | Asset]:
    """The pages with their first rows, and the file with all of them."""
    rows = read(connection, ExploreRow, "explore")
    data = cells_file(rows) if rows else None
    if data:
        yield data
    measured = [row for row in rows if row.tier == "measured" and row.task_name]
    yield render(
        "explore.md.jinja",
        path="explore.md",
        site=site,
        data=data.path if data else None,
        filters=FILTERS,
        usual_engine=USUAL_ENGINE,
        total=len(measured),
        top=measured[:TOP],
        losing=sum(row.verdict == "hurts" for row in measured),
    )
    yield compare(connection, site, data.path if data else None)


def cells_file(rows: tuple[ExploreRow, ...]) -> Asset:
    """All cells column by column, under a name that changes with the content."""
    data = encode(rows, FACETS, MEASURES)
    name = hashlib.sha256(data).hexdigest()[:12]
    return Asset(path=f"assets/explore/cells.{name}.json", data=data)


def _text(value: int | None) -> str:
    return "none" if value is None else str(value)


def _percent(share: float | None) -> float | None:
    return None if share is None else share * 100
