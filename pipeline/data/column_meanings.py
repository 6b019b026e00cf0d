"""Describe the columns of the exported tables: metrics and descriptions.

The file format's schemas describe its fields; `columns.toml` describes all other columns.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal

from msgspec import Struct

from schemas.validator import PUBLISHED_SCHEMA, SOURCES_SCHEMA, SUBMISSION_SCHEMA
from schemas.validator import schema as schema_named
from schemas.vocabulary.axes import AXES
from schemas.vocabulary.documents import document, read_entry

_SCHEMAS = (SUBMISSION_SCHEMA, PUBLISHED_SCHEMA, SOURCES_SCHEMA)
# Tables whose rows have a separate schema, which takes precedence.
_OWN = {"published_view": PUBLISHED_SCHEMA, "source": SOURCES_SCHEMA}
_CAPITALS = {"cpu", "gpu", "id", "kv", "os", "ram", "url", "vram"}


class Metric(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A metric: its label, its unit, and whether higher or lower is better."""

    label: str
    unit: str
    direction: Literal["higher", "lower", "none"]


@cache
def metrics() -> dict[str, Metric]:
    """All metrics by column name, including the vocabulary's axes that have a unit."""
    axes = {
        axis.id: Metric(label=axis.label, unit=axis.unit, direction="none")
        for axis in AXES.values()
        if axis.unit is not None
    }
    return axes | {
        column: read_entry(
            Metric, f"metrics.{column}", dict(zip(Metric.__struct_fields__, values, strict=True))
        )
        for column, values in document("metrics").items()
    }


def title(column: str) -> str:
    """A column's short title: the label of its metric, else its name in words."""
    known = metrics().get(column)
    if known is not None:
        return known.label
    words = [word.upper() if word in _CAPITALS else word for word in column.split("_")]
    return " ".join([words[0] if words[0].isupper() else words[0].capitalize(), *words[1:]])


def description(column: str, table: str) -> str:
    """The meaning of a column. Raises `KeyError` for a column without a description."""
    own = [_fields(_OWN[table])] if table in _OWN else []
    words = document("columns", "pipeline.data")["words"]
    for known in (*own, words, *map(_fields, _SCHEMAS)):
        if column in known:
            return str(known[column])
    raise KeyError(column)


@cache
def _fields(schema: str) -> Mapping[str, str]:
    """The descriptions of a schema's fields, keyed by name, alone and after its parents' names.

    A key that fits fields with different descriptions is left out.
    """
    whole = schema_named(schema)
    found: dict[str, set[str]] = {}
    for name, part in ({"": whole} | whole.get("$defs", {})).items():
        for path, words in _described(part, (name,) if name else ()):
            for at in range(len(path)):
                found.setdefault("_".join(path[at:]), set()).add(words)
    return {name: words.pop() for name, words in found.items() if len(words) == 1}


def _described(
    schema: Mapping[str, Any], path: Sequence[str]
) -> Iterator[tuple[tuple[str, ...], str]]:
    for name, field in schema.get("properties", {}).items():
        if field.get("description"):
            yield (*path, name), field["description"]
        for inner in (field, field.get("items") or {}):
            yield from _described(inner, (*path, name))
