"""The file behind strips and answers: the figure of each device, model and task, tier by tier.

Its address never changes, so that other programs can read it. Strips are lists in the order of
`STRIP_COLUMNS`; devices, models and settings are numbered. Cards that nobody has measured are
devices too, with the memory and bandwidth that `schemas/devices.json` knows.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any, TypeAlias

import duckdb
import orjson

from answers.names import card_key, card_label
from answers.placement import SHARING
from answers.shapes import quantisation_of, shape_of
from estimates.model import ESTIMATOR
from estimates.roofline import bandwidth_gb_per_s, devices, normalised
from pipeline.site.pages import model, shown_commands
from pipeline.site.pages.strips import evidence_address, other_dots, thinned
from pipeline.site.pages.template_environment import vocabulary_file
from pipeline.site.rows import Row, grouped, read
from schemas.vocabulary import COMMON_DEVICES

PATH = "assets/machine.json"
PLAN_PATH = "assets/plan.json"  # whether a model fits a memory
TARGET = "TARGET"  # a page puts the visitor's model in its place
FORMAT, VERSION = "draftmap-machine", 3
DIGITS = 6  # what is printed of them is what pages print
# Weights of a model that nobody has measured are taken to be in the usual file of about four bits.
MOST_BITS = 6
CONTEXT_GIB = 1.0  # beside the weights, for a context of usual length and buffers
ROUNDED = (
    *("speedup", "interval_low", "interval_high", "stated_request"),
    *("least", "most", "needs_gib", "draft_gib", "other_tps"),
)
STRIP_COLUMNS = (
    *("device", "model", "task", "scope", "aside", "tier", "tier_order", "backend", "method"),
    *("depth", "setting", "quantisation", "speedup", "interval_low", "interval_high"),
    *("stated_request", "verdict", "doubt", "mark", "recommended", "least", "most", "people"),
    *("figures", "choices", "differs", "own_tasks", "tasks", "backends", "quantisations"),
    *("drafts", "source", "contributor", "evidence", "day", "build", "needs_gib", "draft_gib"),
    *("other_engine", "other_tps", "dots", "other_dots"),
)
Numbers: TypeAlias = Mapping[Any, int]  # the places of what is stored once, by name

SEVERAL = re.compile(r" [+\N{MULTIPLICATION SIGN}] ")
MEMORY = re.compile(r" \d+ GB$")
CARD = re.compile(r"(?:(?P<count>\d+) \N{MULTIPLICATION SIGN} )?(?P<name>.+)")
# The usual memory of cards that are sold with several sizes; a Mac's is the buyer's choice.
COMMON_GIB = {
    normalised(MEMORY.sub("", each.id)): each.memory_gib
    for each in COMMON_DEVICES.values()
    if MEMORY.search(each.id)
}


def machine_file(connection: duckdb.DuckDBPyConnection) -> model.Asset:
    rows = read(connection, "strip")
    listed = (*known_devices(rows), *unmeasured(rows))
    models = {row.target: _model(row) for row in rows}
    settings = {_words(row): row for row in rows}
    places = (
        {device["id"]: number for number, device in enumerate(listed)},
        {name: number for number, name in enumerate(models)},
        {words: number for number, words in enumerate(settings)},
    )
    used = {row.source for row in rows}
    document = {
        "format": FORMAT,
        "version": VERSION,
        "estimator": ESTIMATOR,
        "vocabulary": vocabulary_file().path,
        "weights": weights(connection),
        "plan": PLAN_PATH,
        "measure": shown_commands.measure_default(TARGET),
        "devices": listed,
        "models": tuple(models.values()),
        "settings": tuple(setting_words(row) for row in settings.values()),
        "sources": {
            row.source: {
                "title": row.title,
                "author": row.author or row.publisher,
                "licence": row.licence,
                "url": row.url,
            }
            for row in read(connection, "source")
            if row.source in used
        },
        "strip_columns": STRIP_COLUMNS,
        "strips": tuple(_strip(row, *places) for row in rows),
    }
    return model.Asset(path=PATH, data=orjson.dumps(document))


def known_devices(rows: Iterable[Row]) -> Iterator[Mapping[str, object]]:
    """The devices that have a figure in any tier."""
    for name, own in grouped(rows, attrgetter("device")).items():
        label = own[0].device_label
        yield {
            "id": name,
            "label": label,
            "kind": own[0].device_kind,
            "shared": SHARING.fullmatch(normalised(label)) is not None,
            "memory": own[0].vram_gib or devices().memory_gib.get(normalised(label)),
            "backends": sorted({row.backend for row in own}),
            "address": model.device_address(name),
            "bandwidth": bandwidth_of(label),
        }


def unmeasured(rows: Iterable[Row]) -> Iterator[Mapping[str, object]]:
    """The cards of the table of bandwidths that have no figure under the same name, nor a page.

    A card with another memory than it is sold with is another one, and several are no single one.
    """
    sold = devices().memory_gib
    single = {
        (row.device_label, row.vram_gib) for row in rows if not SEVERAL.search(row.device_label)
    }
    named = ((card_key(label), gib) for label, gib in single)
    known = {key for key, gib in named if key and (gib is None or sold.get(key, gib) == gib)}
    for name, bandwidth in sorted(devices().bandwidth_gb_per_s.items()):
        if name not in known:
            yield {
                "id": name.replace(" ", "-"),
                "label": card_label(name),
                "kind": "gpu",
                "shared": SHARING.fullmatch(name) is not None,
                "memory": sold.get(name) or COMMON_GIB.get(name),
                "backends": (),
                "address": None,
                "bandwidth": round(bandwidth, 1),
            }


def bandwidth_of(label: str) -> float | None:
    """The bandwidth of a device by its label; cards that work together read side by side."""
    total = 0.0
    for part in MEMORY.sub("", label).split(" + "):
        card = CARD.fullmatch(part)
        each = bandwidth_gb_per_s(card["name"]) if card else None
        if card is None or each is None:
            return None
        total += each * int(card["count"] or 1)
    return round(total, 1)


def weights(connection: duckdb.DuckDBPyConnection) -> Mapping[str, object] | None:
    found = read(connection, "machine_weights")
    usual = next((row for row in found if row.bits < MOST_BITS), None)
    return usual and {"quantisation": usual.quantisation, "bits": round(usual.bits, 2)}


def needed_gib(row: Row) -> float | None:
    """The weights of target and draft with a small context; `None` where a size is not known."""
    bits = quantisation_of(row.quantisation or "")
    draft = draft_gib(row) if row.draft_label else 0.0
    if not row.parameters or not bits or draft is None:
        return None
    target: float = row.parameters * bits.body / 8 / 2**30
    return CONTEXT_GIB + target + draft


def draft_gib(row: Row) -> float | None:
    """The weights of the draft model, of a size and quantisation that its name tells."""
    shape = shape_of(row.draft_label) if row.draft_label else None
    bits = quantisation_of(row.draft_label or "") or quantisation_of("F16")
    return shape.parameters * bits.body / 8 / 2**30 if shape and bits else None


def _model(row: Row) -> Mapping[str, object]:
    """A target with figures: `size` is the order of its size class, `plan` its planner's name."""
    shape = shape_of(row.target_label)
    return {
        "id": row.target,
        "label": row.target_label,
        "size": row.size_order,
        "parameters": row.parameters,
        "active": row.active_parameters,
        "address": model.target_address(row.target),
        "plan": shape and shape.name,
        "mixture": bool(shape and shape.experts),
    }


def _words(row: Row) -> tuple[Any, ...]:
    return row.method, row.depth, row.draft_label, row.engine_label


def setting_words(row: Row) -> Mapping[str, object]:
    """The label of a setting, and the lines that use and measure it."""
    setting = shown_commands.NamedSetting(
        target=TARGET,
        draft=row.draft_label,
        method=row.method,
        depth=row.depth,
        engine=row.engine_label or "",
    )
    use = shown_commands.use(setting)
    words = (row.method_label, row.depth and f"depth {row.depth}", row.draft_label)
    return {
        "label": " \N{MIDDLE DOT} ".join(filter(None, words)),
        "use": use and use.text,
        "note": use and use.note,
        "measure": shown_commands.measure([setting]),
    }


def _strip(row: Row, devices_by: Numbers, models_by: Numbers, settings_by: Numbers) -> list[object]:
    """The columns of a strip: its dots are rounded to what is drawn, and thinned where many."""
    found: dict[str, Any] = row._asdict() | {
        "device": devices_by[row.device],
        "model": models_by[row.target],
        "setting": settings_by[_words(row)],
        # The file keeps these names until its version changes.
        "scope": row.selection,
        "aside": row.condition,
        "differs": row.confounded,
        "evidence": evidence_address(row),
        "needs_gib": needed_gib(row),
        "draft_gib": draft_gib(row),
        "dots": thinned(row.dots),
        "other_dots": other_dots(row),
    }
    found |= {name: round(found[name], DIGITS) for name in ROUNDED if found[name] is not None}
    return [found[name] for name in STRIP_COLUMNS]
