"""Write people's measurements as one file that ships with the program: `answers/evidence.json`."""

import re
from collections.abc import Iterable, Iterator

import duckdb
import msgspec

from answers.evidence import CONFOUNDED, Figure, Report
from answers.machines import without_size
from answers.model_names import model_key
from answers.names import card_key
from estimates.roofline import normalised
from pipeline.site.pages.model import Asset
from pipeline.site.rows import Row, grouped, read

PATH = "assets/evidence.json"
DIGITS = 4  # significant digits; printed figures have three
COUNT = re.compile(r"(?:(\d+) \N{MULTIPLICATION SIGN} )?(.+)")
TOO_OLD = "2025"  # engines and heads have changed too much since then


def evidence_file(found: Iterable[Report]) -> Asset:
    lines = b",\n".join(map(msgspec.json.encode, found))
    return Asset(path=PATH, data=b"[\n" + lines + b"\n]\n")


def reports(connection: duckdb.DuckDBPyConnection) -> Iterator[Report]:
    """Yield the evidence as reports: one for each machine, model, source and setup."""
    rows = read(connection, "evidence")
    for own in grouped(rows, _setup).values():
        first = own[0]
        card, cards = _card(first)
        yield Report(
            tier=first.tier,
            card=card,
            cards=cards,
            on_cpu=first.backend == "cpu",
            backend=first.backend,
            model=model_key(first.target_label),
            quantisation=first.quantisation,
            engine=first.engine or "",
            build=first.build,
            day=first.day,
            person=first.person,
            people=first.people,
            source=first.source,
            figures=tuple(map(_figure, own)),
            doubts=tuple(_doubts(first)),
        )


def _setup(row: Row) -> tuple[object, ...]:
    """The key that groups rows into reports: everything that a report states only once."""
    person = row.person if row.tier == "published" else None  # a cell has a single figure
    return (
        *(row.tier, row.device_label, row.backend, row.target_label, row.quantisation),
        *(row.engine, row.build, row.day, person, row.people, row.source, row.confounded),
        tuple(row.doubts or ()),
    )


def _figure(row: Row) -> Figure:
    return Figure(
        method=row.method,
        depth=row.depth,
        draft=row.draft_label,
        task=row.task,
        speedup=_short(row.speedup),
        before_tps=row.baseline_tps and _short(row.baseline_tps),
        low=row.interval_low and _short(row.interval_low),
        high=row.interval_high and _short(row.interval_high),
    )


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _card(row: Row) -> tuple[str, int]:
    """A device's key and its number of cards; for unlike cards, all their keys in one string."""
    if row.backend == "cpu":
        return normalised(without_size(row.device_label)), 1
    found, total = [], 0
    for part in row.device_label.split(" + "):
        count, name = COUNT.fullmatch(part).groups()  # type: ignore[union-attr]
        found.append(card_key(name) or normalised(without_size(name)))
        total += int(count or 1)
    return " + ".join(sorted(set(found))), total


def _doubts(row: Row) -> Iterator[str]:
    if row.confounded:
        yield CONFOUNDED
    yield from row.doubts or ()
    if row.tier == "published" and row.day and row.day < TOO_OLD:
        yield "before 2025"
