"""Write tables of cells column by column, for the scripts of pages.

A facet is a column with few distinct values: each value is stored once, in the order in which a
page offers the values, and each row stores the index of its value. Figures are stored as integers,
multiplied by a power of ten, so that a page prints the same as `format(value, f".{digits}f")`; a
missing figure is null.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
import polars as pl
from numpy.typing import NDArray
from polars import col

FORMAT, VERSION = "draftmap-explore", 1
NEARLY = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """A column with few distinct values: their keys for addresses, labels for people, and order.

    Values with the same order are sorted by key. The functions in `more` make further strings from
    the keys. If `printed` is given, the strings that it makes from the labels replace keys and
    labels in the file.
    """

    name: str
    key: pl.Expr
    label: pl.Expr | None = None
    order: pl.Expr | None = None
    more: Mapping[str, Callable[[str], str]] | None = None
    printed: Callable[[Any], str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A column of figures, with the number of digits to print and of spare digits for sorting."""

    name: str
    value: pl.Expr
    digits: int
    spare: int = 0


def named(column: str, labels: Mapping[str, str]) -> pl.Expr:
    return col(column).replace_strict(labels, return_dtype=pl.String)


def placed(column: str, names: tuple[str, ...]) -> pl.Expr:
    """The position of each value in a list; values that are not in the list come first."""
    places = {name: place for place, name in enumerate(names)}
    return col(column).replace_strict(places, default=-1, return_dtype=pl.Int64)


def encode(rows: pl.DataFrame, facets: tuple[Facet, ...], measures: tuple[Measure, ...]) -> bytes:
    """Encode these rows as a JSON file. The same rows give the same bytes."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "rows": len(rows),
        "facets": {facet.name: _facet(rows, facet) for facet in facets},
        "figures": {measure.name: _measure(rows, measure) for measure in measures},
    }
    return orjson.dumps(document)


def scaled(values: NDArray[np.float64], digits: int, spare: int) -> list[int]:
    """Figures as integers, times ten to the power of digits + spare, for pages to round correctly.

    Rounding 1.0449 to three digits and then to two would print 1.05 where SQL prints 1.04.
    """
    scale, room = 10.0**digits, 10**spare
    printed = np.rint(values * scale)
    # If a figure is half-way between two printed values, its own decimals decide.
    unsure = np.abs(np.abs(values * scale - printed) - 0.5) < NEARLY
    printed[unsure] = [round(float(f"{value:.{digits}f}") * scale) for value in values[unsure]]
    half = room // 2
    least, most = printed * room - half, printed * room + max(half - 1, 0)
    found: list[int] = np.clip(np.rint(values * scale * room), least, most).astype(int).tolist()
    return found


def _facet(rows: pl.DataFrame, facet: Facet) -> Mapping[str, object]:
    entries = rows.select(
        key=facet.key,
        label=facet.key if facet.label is None else facet.label,
        order=facet.key if facet.order is None else facet.order,
    )
    values = entries.unique("key", keep="first", maintain_order=True).sort("order", "key")
    numbers = entries.select("key").join(
        values.select("key").with_row_index("number"), on="key", how="left", maintain_order="left"
    )
    keys, labels = values["key"].to_list(), values["label"].to_list()
    if facet.printed is not None:
        keys = labels = list(map(facet.printed, labels))
    return {
        "keys": keys,
        **({} if labels == keys else {"labels": labels}),
        **{name: list(map(text_of, keys)) for name, text_of in (facet.more or {}).items()},
        "index": numbers["number"].to_list(),
    }


def _measure(rows: pl.DataFrame, measure: Measure) -> Mapping[str, object]:
    values = rows.select(value=measure.value.cast(pl.Float64))["value"]
    found = np.full(len(values), None, object)
    known = values.drop_nulls().to_numpy()
    found[values.is_not_null().to_numpy()] = scaled(known, measure.digits, measure.spare)
    return {
        "digits": measure.digits,
        "spare": measure.spare,
        "values": found.tolist(),
    }
