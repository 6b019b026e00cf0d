"""Which of two is better? The page Compare: two places, or two arms, task by task."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb

from pipeline.site.pages.environment import render
from pipeline.site.pages.model import Page, Site, address_of, device_path
from pipeline.site.pages.rows import read

SHOWN = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendPair:
    """One arm on one task, measured on one device through two backends."""

    device: str
    device_label: str
    target_label: str
    quantisation: str
    method_label: str
    depth: int | None
    draft_label: str | None
    task: str
    tier: str
    first_setup: str
    first_backend: str
    first_speedup: float
    first_low: float | None
    first_high: float | None
    first_verdict: str
    second_setup: str
    second_backend: str
    second_speedup: float
    second_low: float | None
    second_high: float | None
    second_verdict: str
    speedup_ratio: float

    @property
    def address(self) -> str:
        return address_of(device_path(self.device))

    @property
    def task_name(self) -> str | None:
        """The task, or `None` over all tasks."""
        return None if self.task == "all" else self.task


def compare(connection: duckdb.DuckDBPyConnection, site: Site, data: str | None) -> Page:
    """The page; without JavaScript it shows one card through two backends.

    `data` is the path of the file with all cells, `None` where there are none.
    """
    pairs = [row for row in read(connection, BackendPair, "backend_pair") if row.tier == "measured"]
    return render(
        "compare.md.jinja",
        path="compare.md",
        site=site,
        data=data,
        pairs=pairs[:SHOWN],
        total=len(pairs),
    )
