"""List the metrics: numeric columns, with their labels, units and better directions."""

from functools import cache
from typing import Literal

from msgspec import Struct

from schemas.vocabulary.axes import AXES
from schemas.vocabulary.documents import document, read_entry

Direction = Literal["higher", "lower", "none"]


class Metric(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A metric: its label, its unit, and whether higher or lower is better."""

    label: str
    unit: str
    direction: Direction


@cache
def metrics() -> dict[str, Metric]:
    """All metrics by the name of their column, including those that the axes describe."""
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
