"""What is missing? The campaigns that the map wants most, each with its command."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb

from pipeline.site.pages.commands import own_runner
from pipeline.site.pages.environment import render
from pipeline.site.pages.model import Page, Site, address_of, device_path
from pipeline.site.pages.rows import read
from schemas.vocabulary import DEFAULT_RUNNER, FIXED_TASKS, METHODS

SHOWN = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One campaign that would fill cells."""

    device: str
    device_label: str
    backend: str
    size_class: str
    method: str
    method_label: str
    depth: int | None
    target_label: str
    quantisation: str
    draft_label: str | None
    target_word: str
    draft_word: str | None
    empty_tasks: list[str] | None
    thin_tasks: list[str] | None
    confirmed_tasks: int
    rigs: int
    wanted: float

    @property
    def address(self) -> str:
        return address_of(device_path(self.device))

    @property
    def empty(self) -> tuple[str, ...]:
        return tuple(self.empty_tasks or ())

    @property
    def thin(self) -> tuple[str, ...]:
        return tuple(self.thin_tasks or ())

    @property
    def command(self) -> str | None:
        """The line to paste; `None` where no runner of the harness drafts by itself like this."""
        own = own_runner([self.method])
        if own is None or (own.id != DEFAULT_RUNNER and METHODS[self.method].draft != "none"):
            return None
        runner = f" {own.options}" if own.options else ""
        depth = "" if self.depth is None else f":n_max={self.depth}"
        draft = f" --draft {self.draft_word}.gguf" if self.draft_word else ""
        missing = {*self.empty, *self.thin}
        # Without a list all tasks run, and only then is there a figure over all of them.
        tasks = "" if missing >= {*FIXED_TASKS} else f" --tasks {','.join(sorted(missing))}"
        return (
            f"python -m harness run --target {self.target_word}.gguf{draft}"
            f" --method {self.method}{depth}{runner}{tasks}"
        )


def coverage(connection: duckdb.DuckDBPyConnection, site: Site) -> Page:
    """The page of what is wanted, most wanted first."""
    rows = read(connection, Wanted, "wanted")
    return render(
        "coverage.md.jinja",
        path="coverage.md",
        site=site,
        rows=rows[:SHOWN],
        total=len(rows),
        every=len(FIXED_TASKS),
        empty=sum(len(row.empty) for row in rows),
        thin=sum(len(row.thin) for row in rows),
    )
