"""What is known about one device, and about one target model? A page each, and two indexes."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb

from pipeline.site.pages import commands
from pipeline.site.pages.cells import Cell, Device, FailureLine, Overview, Square, Target
from pipeline.site.pages.environment import plain, render
from pipeline.site.pages.figures import figure
from pipeline.site.pages.model import Page, Site, device_path, target_path
from pipeline.site.pages.rows import grouped, read


def device_pages(connection: duckdb.DuckDBPyConnection, site: Site) -> Iterator[Page]:
    """The index of devices and one page per device."""
    devices = read(connection, Device, "device")
    squares = grouped(read(connection, Square, "map_cell"), lambda row: row.device)
    sizes = {name: {row.size_class for row in rows} for name, rows in squares.items()}
    cells = grouped(read(connection, Cell, "cell"), lambda row: row.device)
    failures = grouped(_failures(connection), lambda row: row.device)
    newest = grouped(read(connection, Overview, "newest"), lambda row: row.device)
    yield render(
        "devices.md.jinja",
        path="devices/index.md",
        site=site,
        devices=devices,
        tallies={device.device: tally(cells[device.device]) for device in devices},
    )
    for device in devices:
        yield render(
            "device.md.jinja",
            path=device_path(device.device),
            site=site,
            figures=(
                figure(connection, "device_map", device=device.device),
                figure(connection, "verification_curve", device=device.device),
            ),
            device=device,
            title=plain(device.device_label),
            commands=commands,
            sizes=len(sizes.get(device.device, ())),
            best=best_settings(cells[device.device]),
            cells=cells[device.device],
            failures=failures[device.device],
            newest=newest[device.device],
        )


def target_pages(connection: duckdb.DuckDBPyConnection, site: Site) -> Iterator[Page]:
    """The index of target models and one page per target."""
    targets = read(connection, Target, "target")
    cells = grouped(read(connection, Cell, "cell"), lambda row: row.target)
    failures = grouped(_failures(connection), lambda row: row.target)
    newest = grouped(read(connection, Overview, "newest"), lambda row: row.target)
    yield render(
        "models.md.jinja",
        path="models/index.md",
        site=site,
        targets=targets,
        tallies={target.target: tally(cells[target.target]) for target in targets},
    )
    for target in targets:
        yield render(
            "target.md.jinja",
            path=target_path(target.target),
            site=site,
            target=target,
            title=plain(target.target_label),
            commands=commands,
            best=best_settings(cells[target.target]),
            cells=cells[target.target],
            failures=failures[target.target],
            newest=newest[target.target],
        )


def tally(cells: tuple[Cell, ...]) -> dict[str, int]:
    """Measured cells of single tasks by verdict, and how many there are."""
    single = [cell for cell in cells if cell.tier == "measured" and cell.task_name]
    return {
        "helps": sum(cell.verdict == "helps" for cell in single),
        "hurts": sum(cell.verdict == "hurts" for cell in single),
        "failed": sum(cell.verdict == "failed" for cell in single),
        "all": len(single),
    }


def best_settings(cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """For each task that was measured, the cell with the highest speedup, fastest task first."""
    measured = [cell for cell in cells if cell.tier == "measured" and cell.speedup is not None]
    by_task = grouped(measured, lambda cell: cell.task)
    best = [max(rows, key=_speed) for task, rows in by_task.items() if task != "all"]
    return tuple(sorted(best, key=_speed, reverse=True))


def _speed(cell: Cell) -> tuple[float, str]:
    return (cell.speedup or 0.0, cell.cell)


def _failures(connection: duckdb.DuckDBPyConnection) -> tuple[FailureLine, ...]:
    """The failures of submissions that count; a withdrawn one shows its own on its own page."""
    return tuple(row for row in read(connection, FailureLine, "failure") if row.counted)
