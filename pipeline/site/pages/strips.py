"""The strips: one row for each device and model, drawn the same on every page that has them."""

from collections.abc import Sequence

from pipeline.site.pages import model
from pipeline.site.rows import Row

TIERS = ("measured", "imported", "published")
MOST_DOTS = 24  # of one kind in one row


def evidence_address(row: Row) -> str:
    """Where the figure of a row can be looked up: a submission, or a row of the device's page."""
    if row.submission:
        return model.submission_address(row.submission)
    return f"{model.device_address(row.device)}#{row.source}--{row.row_id}"


def some(dots: Sequence[float]) -> list[float]:
    """So many of ordered dots as can be told apart, with the first and the last."""
    steps = MOST_DOTS - 1
    if len(dots) <= MOST_DOTS:
        return list(dots)
    return [dots[round(step * (len(dots) - 1) / steps)] for step in range(MOST_DOTS)]
