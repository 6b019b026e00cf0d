"""The file behind strips: the figure of each device, model and task, tier by tier.

Its address never changes, so that other programs can read it. Strips are lists in the order of
`STRIP_COLUMNS`; devices and models are numbered.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any, TypeAlias

import duckdb
import orjson

from answers.shapes import shape_of
from estimates.model import ESTIMATOR
from estimates.roofline import devices, normalised
from pipeline.site.pages import model
from pipeline.site.pages.strips import evidence_address, other_dots, thinned
from pipeline.site.pages.template_environment import vocabulary_file
from pipeline.site.rows import Row, grouped, read

PATH = "assets/machine.json"
FORMAT, VERSION = "draftmap-machine", 4
DIGITS = 6  # what is printed of them is what pages print
ROUNDED = ("speedup", "interval_low", "interval_high", "stated_request", "least", "most")
STRIP_COLUMNS = (
    *("device", "model", "task", "scope", "aside", "tier", "tier_order", "backend", "method"),
    *("depth", "quantisation", "speedup", "interval_low", "interval_high"),
    *("stated_request", "verdict", "doubt", "mark", "least", "most", "people"),
    *("figures", "choices", "differs", "own_tasks", "tasks", "backends", "quantisations"),
    *("drafts", "source", "contributor", "evidence", "day", "build", "dots", "other_dots"),
)
Numbers: TypeAlias = Mapping[Any, int]  # the places of what is stored once, by name
MEMORY = re.compile(r" \d+ GB$")


def machine_file(connection: duckdb.DuckDBPyConnection) -> model.Asset:
    rows = read(connection, "strip")
    listed = tuple(measured_devices(rows))
    models = {row.target: _model(row) for row in rows}
    places = (
        {device["id"]: number for number, device in enumerate(listed)},
        {name: number for number, name in enumerate(models)},
    )
    document = {
        "format": FORMAT,
        "version": VERSION,
        "estimator": ESTIMATOR,
        "vocabulary": vocabulary_file().path,
        "devices": listed,
        "models": tuple(models.values()),
        "strip_columns": STRIP_COLUMNS,
        "strips": tuple(_strip(row, *places) for row in rows),
    }
    return model.Asset(path=PATH, data=orjson.dumps(document))


def measured_devices(rows: Iterable[Row]) -> Iterator[Mapping[str, object]]:
    """The devices that have a figure in any tier."""
    for name, own in grouped(rows, attrgetter("device")).items():
        label = own[0].device_label
        yield {
            "id": name,
            "label": label,
            "kind": own[0].device_kind,
            "memory": own[0].vram_gib or devices().memory_gib.get(normalised(label)),
            "backends": sorted({row.backend for row in own}),
            "address": model.device_address(name),
        }


def _model(row: Row) -> Mapping[str, object]:
    """A target with figures: `size` is the order of its size class."""
    shape = shape_of(row.target_label)
    return {
        "id": row.target,
        "label": row.target_label,
        "size": row.size_order,
        "parameters": row.parameters,
        "active": row.active_parameters,
        "address": model.target_address(row.target),
        "mixture": bool(shape and shape.experts),
    }


def _strip(row: Row, devices_by: Numbers, models_by: Numbers) -> list[object]:
    """The columns of a strip: its dots are rounded to what is drawn, and thinned where many."""
    found: dict[str, Any] = row._asdict() | {
        "device": devices_by[row.device],
        "model": models_by[row.target],
        # The file keeps these names until its version changes.
        "scope": row.selection,
        "aside": row.condition,
        "differs": row.confounded,
        "evidence": evidence_address(row),
        "dots": thinned(row.dots),
        "other_dots": other_dots(row),
    }
    found |= {name: round(found[name], DIGITS) for name in ROUNDED if found[name] is not None}
    return [found[name] for name in STRIP_COLUMNS]
