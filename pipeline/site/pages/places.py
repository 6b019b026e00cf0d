"""A page for each device and each target model."""

from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter
from typing import TypeAlias

import duckdb

from pipeline.site.pages import commands, model
from pipeline.site.pages.environment import figure, plain, render
from pipeline.site.pages.grid import target_grid
from pipeline.site.pages.map import LOW, NARROW, by_task, draw, losses
from pipeline.site.rows import Row, grouped, read

Parts: TypeAlias = "dict[str, Mapping[str, tuple[Row, ...]]]"

# The charts of a device with their headings.
DEVICE_CHARTS = {
    "depths": "The best depth",
    "round_costs": "R of this machine",
    "verification_curve": "What a wider step costs",
}
MAP = "Map of the best measured speedup on this device by task and model size"


def device_pages(connection: duckdb.DuckDBPyConnection, site: model.Site) -> Iterator[model.Page]:
    parts = _parts(connection, "device")
    devices = read(connection, "device")
    for device in devices:
        yield _device_page(connection, site, device, parts)
    for name in sorted(parts["pairs"].keys() - {device.device for device in devices}):
        yield _printed_page(connection, site, name, parts)


def _device_page(
    connection: duckdb.DuckDBPyConnection, site: model.Site, device: Row, parts: Parts
) -> model.Page:
    own = {name: rows[device.device] for name, rows in parts.items()}
    lines = by_task(own.pop("squares"))
    return render(
        "device.md.jinja",
        path=model.path_of(model.device_address(device.device)),
        site=site,
        figures=drawn(
            *(figure(connection, site, name, device=device.device) for name in DEVICE_CHARTS)
        ),
        device=device,
        headings=DEVICE_CHARTS,
        title=plain(device.device_label),
        drawings=tuple(draw(lines, layout, MAP) for layout in (LOW, NARROW) if lines),
        squares=tuple(square for line in lines for square in line.squares),
        caption=losses(lines),
        **own,
    )


def _printed_page(
    connection: duckdb.DuckDBPyConnection, site: model.Site, name: str, parts: Parts
) -> model.Page:
    """The page of a device of which only others published figures."""
    pairs = parts["pairs"][name]
    return render(
        "published_device.md.jinja",
        path=model.path_of(model.device_address(name)),
        site=site,
        figures=_depths(connection, site, name, pairs),
        title=plain(pairs[0].device_label),
        pairs=pairs,
        printed=parts["printed"][name],
        best=_repeatable(pairs),
    )


def _depths(
    connection: duckdb.DuckDBPyConnection, site: model.Site, device: str, pairs: Iterable[Row]
) -> tuple[model.Figure, ...]:
    """The chart of published depths, for which a device needs figures at two of them."""
    if len({pair.depth for pair in pairs} - {None}) <= 1:
        return ()
    return drawn(figure(connection, site, "depths", device=device))


def _repeatable(pairs: Iterable[Row]) -> Row | None:
    """The highest published ratio that llama.cpp's server can repeat, if any, like with like."""
    known = [pair for pair in pairs if pair.speedup is not None]
    return max(
        known,
        key=lambda pair: (
            not pair.also_differs,
            commands.repeats(commands.printed(pair)),
            pair.speedup,
        ),
        default=None,
    )


def best_by_device(pairs: Iterable[Row]) -> tuple[Row, ...]:
    """The highest ratio for each device; those of runs that differ in more come last."""
    best = (pair for pair in pairs if pair.highest_of_target)
    return tuple(sorted(best, key=lambda pair: (bool(pair.also_differs), -pair.speedup)))


def drawn(*figures: model.Figure) -> tuple[model.Figure, ...]:
    return tuple(each for each in figures if not each.chart.empty)


def target_pages(connection: duckdb.DuckDBPyConnection, site: model.Site) -> Iterator[model.Page]:
    parts = _parts(connection, "target")
    targets = read(connection, "target")
    for target in targets:
        yield _target_page(connection, site, target, parts)
    for name in sorted(parts["pairs"].keys() - {each.target for each in targets}):
        yield _printed_target(site, name, parts)


def _target_page(
    connection: duckdb.DuckDBPyConnection, site: model.Site, target: Row, parts: Parts
) -> model.Page:
    own = {name: rows[target.target] for name, rows in parts.items()}
    return render(
        "target.md.jinja",
        path=model.path_of(model.target_address(target.target)),
        site=site,
        figures=drawn(figure(connection, site, "depths", device="all", target=target.target)),
        target=target,
        title=plain(target.target_label),
        grid=target_grid(own.pop("squares")),
        pairs=best_by_device(own.pop("pairs")),
        **own,
    )


def _printed_target(site: model.Site, name: str, parts: Parts) -> model.Page:
    """The page of a model about which only others published figures."""
    every = parts["pairs"][name]
    pairs = best_by_device(every)
    return render(
        "published_target.md.jinja",
        path=model.path_of(model.target_address(name)),
        site=site,
        title=plain(every[0].target_label),
        grid=target_grid(parts["squares"][name]),
        every=every,
        pairs=pairs,
        printed=parts["printed"][name],
        best=_repeatable(pairs),
        drafts=parts["drafts"][name],
    )


def _parts(connection: duckdb.DuckDBPyConnection, kind: str) -> Parts:
    """What the pages of devices and of targets show, each by the name of its device or target.

    Failures are those of submissions that count; a withdrawn one shows its own on its own page.
    """
    of = attrgetter(kind)
    return {
        "best": grouped(read(connection, "best_settings", place=kind), of),
        "surest": grouped(read(connection, "surest_gain", place=kind), attrgetter("scope")),
        "cells": grouped(read(connection, "place_cells", place=kind), of),
        "failures": grouped((row for row in read(connection, "failure") if row.counted), of),
        "newest": grouped(read(connection, "newest"), of),
        "credits": grouped((row for row in read(connection, "credits") if row.counted), of),
        "pairs": grouped(read(connection, "published_pairs"), of),
        "printed": grouped(read(connection, "printed_headline", place=kind), attrgetter("name")),
        "squares": grouped(read(connection, f"{kind}_squares"), of),
        # Of single tasks there are no tables: a place in one holds one figure.
        "drafts": grouped((row for row in read(connection, "draft_grid") if not row.task), of),
    }
