"""How good are the predictions? Every cell beside what the probes and the advisor say of it."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb

from pipeline.site.pages.advisor import LEVELS
from pipeline.site.pages.environment import render
from pipeline.site.pages.figures import figure
from pipeline.site.pages.model import Page, Site, address_of, submission_path
from pipeline.site.pages.rows import read

SHOWN = 200  # rows on the page; the exported table holds all


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """One cell as one voter measured it, beside both predictions."""

    observation: str
    submission: str
    device_label: str
    backend: str
    target_label: str
    quantisation: str
    method_label: str
    depth: int | None
    draft_label: str | None
    task: str
    speedup: float
    predicted_speedup: float | None
    unexplained: float | None
    advised_speedup: float | None
    advised_low: float | None
    advised_high: float | None
    advised_error: float | None
    advised_holds: bool | None
    cost_level: str | None
    yield_level: str | None

    @property
    def address(self) -> str:
        return address_of(submission_path(self.submission))


def predictions(connection: duckdb.DuckDBPyConnection, site: Site) -> Page:
    """The page of predicted against measured, the worst predictions first."""
    rows = read(connection, Prediction, "advice_prediction")
    advised = [row for row in rows if row.advised_error is not None]
    return render(
        "predictions.md.jinja",
        path="predictions.md",
        site=site,
        figures=(figure(connection, "predictions"),),
        rows=tuple(sorted(rows, key=_worst_first)[:SHOWN]),
        total=len(rows),
        advised=len(advised),
        levels=LEVELS,
    )


def _worst_first(row: Prediction) -> tuple[float, str]:
    return (-max(row.advised_error or 0.0, abs(row.unexplained or 0.0)), row.observation)
