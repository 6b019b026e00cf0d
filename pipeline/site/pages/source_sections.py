"""Write the sections of *Data and sources*: the sources, and rows that have no other page."""

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

import duckdb

from pipeline.site.rows import grouped, read

UNITS = {"_tps": " tokens/s", "_gb_s": "", "_gb": "", "_mib": "", "_usd": "", "_c": ""}
WORDS = {"vram": "GPU memory", "gpu": "GPU", "kv": "KV", "min": "least", "max": "most"}


def sections(connection: duckdb.DuckDBPyConnection) -> Mapping[str, Any]:
    """Template values: all sources, and those of their rows that are on no device's page."""
    figures = read(connection, "published_figure")
    return {
        "sources": read(connection, "sources"),
        "measured": read(connection, "measured_so_far")[0],
        "rest": grouped(read(connection, "published_rest"), attrgetter("source")),
        "printed": grouped(figures, lambda each: f"{each.source}/{each.row_id}"),
        "in_words": in_words,
    }


def in_words(quantity: str) -> str:
    """A quantity's name in words, with tokens/s but no other unit."""
    if quantity == "n_max":
        return "depth"
    for suffix, unit in UNITS.items():
        if quantity.endswith(suffix):
            quantity = quantity.removesuffix(suffix) + unit
            break
    return " ".join(WORDS.get(word, word) for word in quantity.split("_"))
