"""How do many cells become a small file? Column by column: words once, figures as whole numbers.

A facet is a column of few different values: the values stand once, in the order in which a page
offers them, and each row has the number of its value. A figure is stored times its scale, so that
what a page prints is what `format(value, f".{digits}f")` prints; a missing one is null.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

FORMAT, VERSION = "draftmap-explore", 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """A column of few values: key (for addresses), label (for people), and what sorts them.

    `page` is the address of the page about a value, for facets that have one.
    """

    name: str
    key: Callable[[Any], Hashable]
    label: Callable[[Any], str]
    order: Callable[[Any], Any]
    page: Callable[[Any], str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A column of figures: how many digits are printed, and how many more are kept for sorting."""

    name: str
    value: Callable[[Any], float | None]
    digits: int
    spare: int = 0


def encode(rows: Sequence[object], facets: Iterable[Facet], measures: Iterable[Measure]) -> bytes:
    """The file of these rows. The same rows give the same bytes."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "rows": len(rows),
        "facets": {facet.name: _facet(rows, facet) for facet in facets},
        "figures": {measure.name: _measure(rows, measure) for measure in measures},
    }
    return orjson.dumps(document)


def scaled(value: float, digits: int, spare: int) -> int:
    """A figure times ten to the power of digits + spare, never over the edge of what is printed.

    Rounding 1.0449 to three digits and then to two would print 1.05 where SQL says 1.04.
    """
    printed = round(float(f"{value:.{digits}f}") * 10.0**digits)
    room = round(10.0**spare)
    kept = round(value * 10.0 ** (digits + spare))
    half = room // 2
    return min(max(kept, printed * room - half), printed * room + max(half - 1, 0))


def _facet(rows: Sequence[object], facet: Facet) -> Mapping[str, object]:
    first: dict[Hashable, object] = {}
    keys = [facet.key(row) for row in rows]
    for key, row in zip(keys, rows, strict=True):
        first.setdefault(key, row)
    ordered = sorted(first.items(), key=lambda item: facet.order(item[1]))
    numbers = {key: number for number, (key, _) in enumerate(ordered)}
    column: dict[str, object] = {"keys": [key for key, _ in ordered]}
    labels = [facet.label(row) for _, row in ordered]
    if labels != column["keys"]:
        column["labels"] = labels
    if facet.page is not None:
        column["pages"] = [facet.page(row) for _, row in ordered]
    return {**column, "index": [numbers[key] for key in keys]}


def _measure(rows: Sequence[object], measure: Measure) -> Mapping[str, object]:
    values = (measure.value(row) for row in rows)
    return {
        "digits": measure.digits,
        "spare": measure.spare,
        "values": [
            None if value is None else scaled(value, measure.digits, measure.spare)
            for value in values
        ],
    }
