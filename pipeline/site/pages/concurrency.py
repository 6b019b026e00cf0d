"""What does a batch leave of a speedup? The page Concurrency."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb

from pipeline.site.pages.environment import render
from pipeline.site.pages.figures import figure
from pipeline.site.pages.model import Page, Site, address_of, submission_path
from pipeline.site.pages.rows import read


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdLine:
    """One arm with one number of requests in flight, over all tasks."""

    tier: str
    task: str
    series: str
    place_label: str
    arm_label: str
    concurrency: int
    speedup: float | None
    interval_low: float | None
    interval_high: float | None
    verdict: str
    stream_tps: float | None
    total_tps: float | None
    total_speedup: float | None
    total_low: float | None
    total_high: float | None
    round_cost: float | None
    submission: str

    @property
    def address(self) -> str:
        return address_of(submission_path(self.submission))


def concurrency(connection: duckdb.DuckDBPyConnection, site: Site) -> Page:
    """Speedup of one stream and of all together by the number of requests in flight."""
    rows = read(connection, CrowdLine, "concurrency_view")
    return render(
        "concurrency.md.jinja",
        path="concurrency.md",
        site=site,
        figures=(figure(connection, "concurrency"),),
        lines=tuple(row for row in rows if row.tier == "measured" and row.task == "all"),
    )
