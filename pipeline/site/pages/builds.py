"""Did an engine build change anything? The same setting on the same machine over builds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import duckdb

from pipeline.site.pages.environment import render
from pipeline.site.pages.figures import figure
from pipeline.site.pages.model import Page, Site, address_of, submission_path
from pipeline.site.pages.rows import read


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """One setting under one build, beside the build before."""

    series: str
    submission: str
    device_label: str
    backend: str
    target_label: str
    quantisation: str
    method_label: str
    depth: int | None
    draft_label: str | None
    engine_build: str
    engine_build_before: str | None
    measured_from: datetime
    speedup: float
    interval_low: float | None
    interval_high: float | None
    baseline_tps: float | None
    builds: int
    speedup_change: float | None
    baseline_change: float | None
    step: str | None

    @property
    def address(self) -> str:
        return address_of(submission_path(self.submission))


def engine_builds(connection: duckdb.DuckDBPyConnection, site: Site) -> Page:
    """The page of settings that were measured under two builds or more."""
    rows = read(connection, Build, "build_step")
    repeated = tuple(row for row in rows if row.builds > 1)
    return render(
        "builds.md.jinja",
        path="builds.md",
        site=site,
        figures=(figure(connection, "builds"),),
        rows=repeated,
        steps=steps(rows),
        once=len({row.series for row in rows if row.builds == 1}),
    )


def steps(rows: tuple[Build, ...]) -> tuple[Build, ...]:
    """The detected steps, newest first."""
    found = [row for row in rows if row.step]
    return tuple(sorted(found, key=lambda row: (row.measured_from, row.series), reverse=True))
