"""Write the map's figures as one file that ships with the program: `planner/evidence.json`."""

import re
from collections.abc import Iterable, Iterator

import duckdb
import msgspec

from pipeline.site.pages.model import Asset
from pipeline.site.rows import Row, read
from planner.evidence import PairFigure
from planner.machines import device_key
from planner.names import read_model
from planner.presets import preset_named

PATH = "assets/evidence.json"
FIELDS = PairFigure.__struct_fields__
COUNT = re.compile(r"(?:(\d+) \N{MULTIPLICATION SIGN} )?(.+)")


def evidence_file(found: Iterable[PairFigure]) -> Asset:
    lines = b",\n".join(map(msgspec.json.encode, found))
    return Asset(path=PATH, data=b"[\n" + lines + b"\n]\n")


def pairs(connection: duckdb.DuckDBPyConnection) -> Iterator[PairFigure]:
    """Yield the figures of the map, each with the keys by which questions find it."""
    for row in read(connection, "evidence"):
        card, cards = _card(row)
        values = row._asdict() | {
            "card": card,
            "cards": cards,
            "model": read_model(row.target_name).slug,
            "draft": _draft(row.draft_label),
        }
        yield msgspec.convert([values[name] for name in FIELDS], PairFigure)


def _draft(label: str | None) -> str | None:
    """A draft's name: its preset's if one is known, else its label."""
    preset = preset_named(label) if label else None
    return preset.name if preset else label


def _card(row: Row) -> tuple[str, int]:
    """A device's key and its number of cards; for unlike cards, all their keys in one string."""
    if row.on_cpu:
        return device_key(row.name, on_cpu=True), 1
    found, total = [], 0
    for part in row.name.split(" + "):
        count, name = COUNT.fullmatch(part).groups()  # type: ignore[union-attr]
        found.append(device_key(name))
        total += int(count or 1)
    return " + ".join(sorted(set(found))), total
