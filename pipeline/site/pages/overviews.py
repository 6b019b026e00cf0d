"""What do all submissions say by task, and why? The pages Tasks and Break-even."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb

from pipeline.site.pages.cells import Cell, TaskLine
from pipeline.site.pages.environment import render
from pipeline.site.pages.figures import figure
from pipeline.site.pages.model import Page, Site
from pipeline.site.pages.rows import read
from schemas.vocabulary import TASKS

SHOWN = 10  # cells at either end of the break-even table


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakEven:
    """One cell in the break-even plane."""

    cell: str
    tier: str
    task: str
    cannot_win: bool
    tokens_per_round: float
    round_cost: float


def tasks(connection: duckdb.DuckDBPyConnection, site: Site) -> Page:
    """Speedup by task and method."""
    rows = [row for row in read(connection, TaskLine, "task_view") if row.tier == "measured"]
    lines = tuple(row for task in ("all", *TASKS) for row in rows if row.task == task)
    figures = (figure(connection, "tasks"),)
    return render("tasks.md.jinja", path="tasks.md", site=site, figures=figures, lines=lines)


def break_even(connection: duckdb.DuckDBPyConnection, site: Site) -> Page:
    """Tokens per round against the cost of a round: why a cell wins or cannot win."""
    plane = {row.cell: row for row in read(connection, BreakEven, "break_even")}
    cells = tuple(
        cell
        for cell in read(connection, Cell, "cell")
        if cell.cell in plane and cell.tier == "measured" and cell.task_name
    )
    return render(
        "break-even.md.jinja",
        path="break-even.md",
        site=site,
        figures=(figure(connection, "break_even"),),
        total=len(cells),
        extremes=extremes(cells),
        hopeless=sum(plane[cell.cell].cannot_win for cell in cells),
        losing=sum(plane[c.cell].tokens_per_round < plane[c.cell].round_cost for c in cells),
    )


def extremes(cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """The cells that win most and those that lose most, from best to worst."""
    ordered = sorted(cells, key=lambda cell: (-(cell.speedup or 0.0), cell.cell))
    return tuple(ordered if len(ordered) <= 2 * SHOWN else ordered[:SHOWN] + ordered[-SHOWN:])
