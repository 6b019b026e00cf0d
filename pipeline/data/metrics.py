"""List the metrics: numeric columns with label, unit, and whether higher or lower is better."""

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
