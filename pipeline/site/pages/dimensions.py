"""What do the method, the backend and the width of a step decide? A page for each of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import duckdb

from pipeline.site.pages.compare import BackendPair
from pipeline.site.pages.concurrency import concurrency
from pipeline.site.pages.environment import render
from pipeline.site.pages.figures import figure
from pipeline.site.pages.model import (
    Page,
    Site,
    address_of,
    device_path,
    submission_path,
    target_path,
)
from pipeline.site.pages.rows import by_submission, read
from schemas.vocabulary import TASKS

MEASURED = "measured"
WIDTHS = (2, 3, 5, 9)  # one step that verifies a draft of 1, 2, 4 and 8 tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodLine:
    """One method at one depth on one task, over all devices and targets."""

    tier: str
    task: str
    method_label: str
    depth: int | None
    verdict: str
    speedup: float | None
    interval_low: float | None
    interval_high: float | None
    worst_speedup: float | None
    best_speedup: float | None
    tokens_per_round: float | None
    round_cost: float | None
    acceptance_rate: float | None
    submissions: int
    rigs: int
    devices: int

    @property
    def task_name(self) -> str | None:
        """The task, or `None` over all tasks."""
        return None if self.task == "all" else self.task


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCost:
    """What one step of a target costs at one width, in one submission."""

    submission: str
    tier: str
    device: str
    device_label: str
    backend: str
    target: str
    target_label: str
    quantisation: str
    width: int
    step_ms: float
    step_ratio: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCosts:
    """One submission's curve as a line of a table: its costs at `WIDTHS`, `None` in between."""

    first: StepCost
    costs: tuple[float | None, ...]

    @property
    def device_address(self) -> str:
        return address_of(device_path(self.first.device))

    @property
    def target_address(self) -> str:
        return address_of(target_path(self.first.target))

    @property
    def address(self) -> str:
        return address_of(submission_path(self.first.submission))


def dimension_pages(connection: duckdb.DuckDBPyConnection, site: Site) -> Iterator[Page]:
    """The pages Methods, Backends, Concurrency and Verification."""
    yield methods(connection, site)
    yield backends(connection, site)
    yield concurrency(connection, site)
    yield verification(connection, site)


def methods(connection: duckdb.DuckDBPyConnection, site: Site) -> Page:
    """Speedup by method and depth."""
    rows = [row for row in read(connection, MethodLine, "method_view") if row.tier == MEASURED]
    lines = tuple(row for task in ("all", *TASKS) for row in rows if row.task == task)
    figures = (figure(connection, "methods"),)
    return render("methods.md.jinja", path="methods.md", site=site, figures=figures, lines=lines)


def backends(connection: duckdb.DuckDBPyConnection, site: Site) -> Page:
    """One card through several backends."""
    pairs = [row for row in read(connection, BackendPair, "backend_pair") if row.tier == MEASURED]
    clear = {"helps", "hurts"}
    return render(
        "backends.md.jinja",
        path="backends.md",
        site=site,
        figures=(figure(connection, "backends"),),
        pairs=tuple(pair for pair in pairs if pair.task_name is None),
        opposed=sum({pair.first_verdict, pair.second_verdict} == clear for pair in pairs),
        total=len(pairs),
    )


def verification(connection: duckdb.DuckDBPyConnection, site: Site) -> Page:
    """What a wider step costs, curve by curve."""
    curves = by_submission(read(connection, StepCost, "verification_curve"))
    return render(
        "verification.md.jinja",
        path="verification.md",
        site=site,
        figures=(figure(connection, "verification_curve"),),
        widths=WIDTHS,
        curves=tuple(
            _at_widths(points) for points in curves.values() if points[0].tier == MEASURED
        ),
    )


def _at_widths(points: tuple[StepCost, ...]) -> StepCosts:
    costs = {point.width: point.step_ratio for point in points}
    return StepCosts(first=points[0], costs=tuple(costs.get(width) for width in WIDTHS))
