"""Published figures: a page of all sources, and a page of the rows of each source."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter

import duckdb

from pipeline.site.pages.environment import figure, plain, render
from pipeline.site.pages.model import Page, Site, published_path
from pipeline.site.rows import Row, grouped, read
from schemas.validator import PUBLISHED_SCHEMA, schema

UNITS = {"_tps": " tokens/s", "_gb_s": "", "_gb": "", "_mib": "", "_usd": "", "_c": ""}
WORDS = {"vram": "GPU memory", "gpu": "GPU", "kv": "KV", "min": "least", "max": "most"}


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRange:
    """What this collection has measured on the device of a row."""

    device: str
    device_label: str
    lowest: float
    highest: float
    cells: int


def published(connection: duckdb.DuckDBPyConnection, site: Site) -> Iterator[Page]:
    """The page of published figures, and every row of each source as it was printed."""
    figures = read(connection, "published_figure")
    used = {each.quantity for each in figures}
    meanings = schema(PUBLISHED_SCHEMA)["$defs"]["quantity_meanings"]["anyOf"]
    sources = grouped(read(connection, "published_row"), attrgetter("source"))
    places = read(connection, "measured_places")
    every = (row for rows in sources.values() for row in rows)
    here = {f"{row.source}/{row.row_id}": measured(row, places) for row in every}
    compared = {key.partition("/")[0] for key, found in here.items() if found}
    credited = {row.source: row for row in read(connection, "source")}
    printed = grouped(figures, lambda each: f"{each.source}/{each.row_id}")
    for source, rows in sources.items():
        yield render(
            "published_source.md.jinja",
            path=published_path(source),
            site=site,
            title=plain(rows[0].source_title),
            source=source,
            rows=rows,
            measured=here,
            credited=credited[source],
            compares=source in compared,
            printed=printed,
            in_words=in_words,
            setup_of=setup_of,
            models_of=models_of,
        )
    yield render(
        "published.md.jinja",
        path="published.md",
        site=site,
        figures=tuple(
            figure(connection, site, "published_bars", source=source) for source in sources
        ),
        sources=sources,
        credited=credited,
        compared=compared,
        count_printed=len(figures),
        quantities=[each for each in meanings if each["const"] in used],
        in_words=in_words,
    )


def setup_of(row: Row) -> tuple[str, ...]:
    """What ran where, as lines of words."""
    engine = " ".join(filter(None, (row.engine_name, row.engine_version, row.backend)))
    named = {
        "driver": row.driver,
        "power limit": row.power_limit_w and f"{row.power_limit_w:g} W",
        "cache": row.kv_type,
        "context": row.context_tokens,
        "split": row.split_mode,
    }
    settings = tuple(f"{name} {value}" for name, value in named.items() if value)
    layers = (
        f"{row.target_gpu_layers} of {row.target_layers or '?'} target layers on the GPU"
        if row.target_gpu_layers is not None
        else ""
    )
    return tuple(filter(None, (row.device_label or "", engine, layers, *settings)))


def models_of(row: Row) -> tuple[str, ...]:
    """Target and draft, with method and depth, as lines of words."""
    target = " ".join(filter(None, (row.target_name, row.quantisation)))
    draft = " ".join(filter(None, (row.draft_name, row.draft_quantisation)))
    depth = f"depth {row.depth}" if row.depth else ""
    gate = "" if row.p_min is None else f"least probability {row.p_min:g}"
    how = ", ".join(filter(None, (row.method_label, depth, gate)))
    return tuple(filter(None, (target, f"with {draft}" if draft else "", how)))


def measured(row: Row, places: Iterable[Row]) -> MeasuredRange | None:
    """The cells of the same device, backend and task, all models and methods; `None` without any.

    An article names a card without its memory, so "RTX 5060 Ti" is also "RTX 5060 Ti 16 GB".
    """
    if row.device_label is None:
        return None
    names = f"{row.device_label} "
    found = [
        place
        for place in places
        if place.task == (row.task or "all")
        and row.backend in {None, place.backend}
        and f"{place.device_label} ".startswith(names)
    ]
    if not found:
        return None
    return MeasuredRange(
        device=found[0].device,
        device_label=found[0].device_label,
        lowest=min(place.lowest for place in found),
        highest=max(place.highest for place in found),
        cells=sum(place.cells for place in found),
    )


def in_words(quantity: str) -> str:
    """A quantity's name in words; its unit is printed with the figure."""
    if quantity == "n_max":
        return "depth"
    for suffix, unit in UNITS.items():
        if quantity.endswith(suffix):
            quantity = quantity.removesuffix(suffix) + unit
            break
    return " ".join(WORDS.get(word, word) for word in quantity.split("_"))
