"""List the metrics: each numeric column with its label, unit and better direction."""

from functools import cache
from typing import Literal

from msgspec import Struct

from schemas.vocabulary.axes import AXES
from schemas.vocabulary.documents import document, read_entry

Direction = Literal["higher", "lower", "none"]


class Metric(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A numeric column: its label, its unit, and the better direction."""

    label: str
    unit: str
    direction: Direction


@cache
def metrics() -> dict[str, Metric]:
    """Every numeric column of the tables by name; each axis describes its own column."""
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
