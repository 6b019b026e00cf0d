"""The pages that `pages.toml` describes, and a page for each device and each target model."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from operator import attrgetter

import duckdb
from markupsafe import Markup

from pipeline.site import rows
from pipeline.site.acceptance import EVERY, Forecast, forecasts
from pipeline.site.advice import Knowledge, Question
from pipeline.site.charts import definitions
from pipeline.site.pages import commands
from pipeline.site.pages.environment import environment, figure, plain, render
from pipeline.site.pages.grid import target_grid
from pipeline.site.pages.knowledge import of_rounds
from pipeline.site.pages.map import LOW, NARROW, best_case, by_task, draw
from pipeline.site.pages.model import (
    Figure,
    Page,
    Site,
    address_of,
    device_path,
    file_path,
    relative,
    target_path,
)
from pipeline.site.rows import Row, grouped, read

# Kinds of cells that are set to the right, and their headings too.
FIGURES = {
    *("tally", "whole", "number", "one_decimal", "decimal", "percent", "ms", "gb", "ratio"),
    *("signed", "speedup", "median", "side", "advised", "error"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """One entry of `pages.toml`, which says what its words are for."""

    name: str
    path: str
    title: str
    description: str
    rows: str
    template: str = "overview.md.jinja"
    chart: str | None = None
    charts: tuple[str, ...] = ()
    lede: str = ""
    between: str = ""
    heading: str = ""
    table: str = ""
    filter: str = ""
    columns: tuple[tuple[str, ...], ...] = ()
    note: str = ""
    unlisted: str = ""  # shown when the filter leaves no row
    axis: str = ""  # of the published series below: `published_series.sql`
    after: str = ""
    empty: str = ""
    how: str = ""
    command: str = ""


def overviews(connection: duckdb.DuckDBPyConnection, site: Site) -> Iterator[Page]:
    """Every page of `pages.toml`."""
    text = (resources.files("pipeline.site") / "pages.toml").read_text("utf-8")
    for name, entry in tomllib.loads(text).items():
        yield _page(connection, site, Overview(name=name, **entry))


def _page(connection: duckdb.DuckDBPyConnection, site: Site, page: Overview) -> Page:
    found = rows.read(connection, page.rows)
    printed = _printed(connection, page, found)
    here = address_of(page.path)

    def filled(prose: str) -> Markup:
        """Prose with its figures filled in."""
        made = environment().from_string(prose)
        return Markup(made.render(rows=found, url=lambda address: relative(here, address)))  # noqa: S704 - our own prose, its values escaped

    charts = [name for name in (page.chart, *page.charts) if name is not None]
    foreign = _drawn(
        *(
            figure(connection, name, **definitions()[name].foreign)
            for name in charts
            if definitions()[name].foreign
        )
    )
    return render(
        page.template,
        path=page.path,
        site=site,
        figures=(*(figure(connection, name) for name in charts), *foreign),
        foreign=foreign,
        printed=printed,
        unmeasured=_unmeasured(connection) if page.name == "coverage" else (),
        sources=rows.read(connection, "sources") if page.name == "coverage" else (),
        tiers=_tiers(found, foreign, printed),
        credits=[row for row in rows.read(connection, "credits") if row.counted],
        page=page,
        rows=found,
        filled=filled,
        numeric=FIGURES,
        columns=tuple(
            (heading, kind, column)
            for heading, kind, column, *needed in page.columns
            if all(found and getattr(found[0], each) for each in needed)
        ),
    )


def _printed(
    connection: duckdb.DuckDBPyConnection, page: Overview, found: tuple[Row, ...]
) -> tuple[Row, ...]:
    """The published figures on a page: a table of their own, or those behind its published rows."""
    if page.axis:
        return rows.read(connection, "published_series", axis=page.axis)
    tasks = {row.task for row in found if getattr(row, "tier", None) == "published"}
    listed = rows.read(connection, "published_pairs") if tasks else ()
    return tuple(row for row in listed if row.speedup and (row.task or "own") in tasks)


def _unmeasured(connection: duckdb.DuckDBPyConnection) -> tuple[tuple[Row, int], ...]:
    """One published pair of each device that only others know, and how many it has."""
    known = {device.device for device in read(connection, "device")}
    printed = grouped(read(connection, "published_pairs"), attrgetter("device"))
    first = {name: _highest(pairs) for name, pairs in printed.items() if name not in known}
    found = [(pair, len(printed[name])) for name, pair in first.items() if pair]
    return tuple(sorted(found, key=lambda each: (-each[1], each[0].device_label)))


def _tiers(found: Iterable[Row], foreign: tuple[Figure, ...], printed: tuple[Row, ...]) -> set[str]:
    """The tiers that a page shows figures of."""
    shown = {row.tier for row in found if hasattr(row, "tier")}
    return shown | ({"imported"} if foreign else set()) | ({"published"} if printed else set())


# The charts of a device with their headings.
DEVICE_CHARTS = {
    "depths": "The best depth",
    "round_costs": "R of this machine",
    "verification_curve": "What a wider step costs",
}
MAP = "Map of the best measured speedup on this device by task and model size"


def device_pages(connection: duckdb.DuckDBPyConnection, site: Site) -> Iterator[Page]:
    """One page per device."""
    squares = grouped(read(connection, "device_squares"), attrgetter("device"))
    parts = _parts(connection, "device")
    printed = grouped(read(connection, "published_pairs"), attrgetter("device"))
    rounds = of_rounds(connection)
    known = {device.device for device in read(connection, "device")}
    for name, pairs in printed.items():
        if name not in known:
            yield _printed_page(connection, site, name, pairs)
    for device in read(connection, "device"):
        lines = by_task(squares[device.device])
        yield render(
            "device.md.jinja",
            path=device_path(device.device),
            site=site,
            figures=_drawn(
                *(figure(connection, name, device=device.device) for name in DEVICE_CHARTS)
            ),
            files=_files(parts, device.device),
            device=device,
            headings=DEVICE_CHARTS,
            wins=_wins(rounds, device),
            title=plain(device.device_label),
            drawings=tuple(draw(lines, layout, MAP) for layout in (LOW, NARROW) if lines),
            squares=tuple(square for line in lines for square in line.squares),
            caption=best_case(lines),
            pairs=printed[device.device],
            printed=_highest(printed[device.device]),
            **{name: rows[device.device] for name, rows in parts.items()},
        )
    labels = {name: pairs[0].device_label for name, pairs in printed.items() if pairs}
    yield from _moved(site, labels)


def _printed_page(
    connection: duckdb.DuckDBPyConnection, site: Site, name: str, pairs: Sequence[Row]
) -> Page:
    """The page of a device of which only others published figures."""
    return render(
        "published_device.md.jinja",
        path=device_path(name),
        site=site,
        figures=_depths(connection, name, pairs),
        files=(),
        title=plain(pairs[0].device_label),
        pairs=pairs,
        best=_repeatable(pairs),
    )


def _depths(
    connection: duckdb.DuckDBPyConnection, device: str, pairs: Iterable[Row]
) -> tuple[Figure, ...]:
    """The chart of published depths, for which a device needs figures at two of them."""
    if len({pair.depth for pair in pairs} - {None}) <= 1:
        return ()
    return _drawn(figure(connection, "depths", device=device))


def _files(parts: Mapping[str, Mapping[str, tuple[Row, ...]]], name: str) -> Iterator[str]:
    """The raw files that the page of a device or of a target links."""
    return (file_path(row.file) for row in parts["newest"][name])


def _wins(rounds: Knowledge, device: Row) -> tuple[Forecast, ...]:
    """What published acceptance would gain on a device, by the rounds measured on it alone."""
    asked = (
        Question(backend=backend, size=0, task=EVERY, device=device.device)
        for backend in device.backends
    )
    found = (each for question in asked for each in forecasts(rounds, question))
    return tuple(each for each in found if each.level == "round-device")


def _repeatable(pairs: Iterable[Row]) -> Row | None:
    """The highest published ratio, of those that llama.cpp's server can repeat if there are any."""
    known = [pair for pair in pairs if pair.speedup is not None]
    return max(
        known,
        key=lambda pair: (commands.use(commands.printed(pair)) is not None, pair.speedup),
        default=None,
    )


def _highest(pairs: Iterable[Row]) -> Row | None:
    """The highest published ratio of those in which nothing but speculation differs."""
    alike = [pair for pair in pairs if pair.speedup is not None and not pair.also_differs]
    return max(alike, key=attrgetter("speedup"), default=None)


def _drawn(*figures: Figure) -> tuple[Figure, ...]:
    """The charts that have something to show."""
    return tuple(each for each in figures if not each.chart.empty)


def _moved(site: Site, labels: Mapping[str, str]) -> Iterator[Page]:
    """What leads on from the former addresses of `moved.toml`."""
    text = (resources.files("pipeline.site") / "moved.toml").read_text("utf-8")
    for old, new in tomllib.loads(text).items():
        if new in labels and old not in labels:
            title = plain(labels[new])
            path = device_path(old)
            yield render("moved.md.jinja", path=path, site=site, title=title, device=new)


def target_pages(connection: duckdb.DuckDBPyConnection, site: Site) -> Iterator[Page]:
    """One page per target model."""
    parts = _parts(connection, "target")
    squares = grouped(read(connection, "target_squares"), attrgetter("target"))
    for target in read(connection, "target"):
        yield render(
            "target.md.jinja",
            path=target_path(target.target),
            site=site,
            figures=_drawn(figure(connection, "depths", device="all", target=target.target)),
            files=_files(parts, target.target),
            target=target,
            title=plain(target.target_label),
            grid=target_grid(squares[target.target]),
            **{name: rows[target.target] for name, rows in parts.items()},
        )


def _parts(
    connection: duckdb.DuckDBPyConnection, kind: str
) -> dict[str, Mapping[str, tuple[Row, ...]]]:
    """What the pages of devices and of targets show, each by the name of its device or target.

    Failures are those of submissions that count; a withdrawn one shows its own on its own page.
    """
    of = attrgetter(kind)
    return {
        "best": grouped(read(connection, "best_settings", place=kind), of),
        "cells": grouped(read(connection, "place_cells", place=kind), of),
        "failures": grouped((row for row in read(connection, "failure") if row.counted), of),
        "newest": grouped(read(connection, "newest"), of),
        "credits": grouped((row for row in read(connection, "credits") if row.counted), of),
    }
