"""What did articles claim? Every transcribed figure with its source and place, as printed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date

import duckdb

from pipeline.site.pages.cells import Cell
from pipeline.site.pages.environment import render
from pipeline.site.pages.figures import figure
from pipeline.site.pages.model import Page, Site
from pipeline.site.pages.rows import grouped, read
from schemas.validator import PUBLISHED_SCHEMA, schema

UNITS = {"_tps": " tokens/s", "_gb_s": "", "_gb": "", "_mib": "", "_usd": "", "_c": ""}
WORDS = {"vram": "GPU memory", "gpu": "GPU", "kv": "KV", "min": "least", "max": "most"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One configuration of one source."""

    source: str
    row_id: str
    source_title: str
    publisher: str | None
    published_on: date | None
    url: str | None
    transcribed_on: date
    place: str
    kind: str
    device_label: str | None
    vram_mib: int | None
    engine_name: str | None
    engine_version: str | None
    backend: str | None
    target_name: str | None
    quantisation: str | None
    draft_name: str | None
    draft_quantisation: str | None
    method_label: str | None
    depth: int | None
    task: str | None
    target_gpu_layers: int | None
    target_layers: int | None
    draft_gpu_layers: int | None
    baseline_row: str | None
    outcome: str | None
    note: str | None

    @property
    def setup(self) -> tuple[str, ...]:
        """What ran where, as lines of words."""
        engine = " ".join(filter(None, (self.engine_name, self.engine_version, self.backend)))
        layers = (
            f"{self.target_gpu_layers} of {self.target_layers or '?'} target layers on the GPU"
            if self.target_gpu_layers is not None
            else ""
        )
        return tuple(filter(None, (self.device_label or "", engine, layers)))

    @property
    def models(self) -> tuple[str, ...]:
        """Target and draft, with method and depth, as lines of words."""
        target = " ".join(filter(None, (self.target_name, self.quantisation)))
        draft = " ".join(filter(None, (self.draft_name, self.draft_quantisation)))
        depth = f"depth {self.depth}" if self.depth else ""
        how = ", ".join(filter(None, (self.method_label, depth)))
        return tuple(filter(None, (target, f"with {draft}" if draft else "", how)))


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedFigure:
    """One number of one row."""

    source: str
    row_id: str
    quantity: str
    qualifier: str | None
    as_printed: str

    @property
    def words(self) -> str:
        return spoken(self.quantity)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What this collection has measured on the device of a row."""

    address: str
    device_label: str
    lowest: float
    highest: float
    cells: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """What a quantity's name means."""

    name: str
    unit: str
    description: str

    @property
    def words(self) -> str:
        return spoken(self.name)


def published(connection: duckdb.DuckDBPyConnection, site: Site) -> Page:
    """The page of published figures, source by source."""
    figures = read(connection, PrintedFigure, "published_figure")
    used = {each.quantity for each in figures}
    sources = grouped(read(connection, Row, "published_row"), lambda row: row.source)
    cells = [cell for cell in read(connection, Cell, "cell") if cell.tier == "measured"]
    here = {
        f"{row.source}/{row.row_id}": measured(row, cells)
        for rows in sources.values()
        for row in rows
    }
    return render(
        "published.md.jinja",
        path="published.md",
        site=site,
        figures=tuple(figure(connection, "published_bars", source=source) for source in sources),
        sources=sources,
        measured=here,
        compared={key.partition("/")[0] for key, found in here.items() if found},
        printed=grouped(figures, lambda each: f"{each.source}/{each.row_id}"),
        count_printed=len(figures),
        quantities=tuple(each for each in quantities() if each.name in used),
    )


def measured(row: Row, cells: Iterable[Cell]) -> Measured | None:
    """The cells of the same device, backend and task, all models and methods; `None` without any.

    An article names a card without its memory, so "RTX 5060 Ti" is also "RTX 5060 Ti 16 GB".
    """
    if row.device_label is None:
        return None
    names = f"{row.device_label} "
    found = [
        cell
        for cell in cells
        if f"{cell.device_label} ".startswith(names)
        and row.backend in {None, cell.backend}
        and cell.task == (row.task or "all")
        and cell.speedup is not None
    ]
    speedups = [cell.speedup for cell in found if cell.speedup is not None]
    if not found:
        return None
    return Measured(
        address=found[0].device_address,
        device_label=found[0].device_label,
        lowest=min(speedups),
        highest=max(speedups),
        cells=len(found),
    )


def spoken(quantity: str) -> str:
    """A quantity's name in words; its unit stands beside the figure as printed."""
    if quantity == "n_max":
        return "depth"
    for suffix, unit in UNITS.items():
        if quantity.endswith(suffix):
            quantity = quantity.removesuffix(suffix) + unit
            break
    return " ".join(WORDS.get(word, word) for word in quantity.split("_"))


def quantities() -> Iterator[Quantity]:
    """All quantities that the format of published figures knows."""
    for meaning in schema(PUBLISHED_SCHEMA)["$defs"]["quantity_meanings"]["anyOf"]:
        yield Quantity(
            name=meaning["const"], unit=meaning["title"], description=meaning["description"]
        )
