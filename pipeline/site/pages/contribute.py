"""How does a result get here? The steps, with the newest submission as the example."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb

from pipeline.site.pages.cells import Overview
from pipeline.site.pages.environment import render
from pipeline.site.pages.model import Page, Site
from pipeline.site.pages.rows import read


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """What a pull request names; `address` is `None` where nothing has been sent yet."""

    device: str
    target: str
    file: str
    address: str | None


MADE_UP = Example(device="DEVICE", target="MODEL", file="DEVICE--MODEL--DAY.json", address=None)


def contribute(connection: duckdb.DuckDBPyConnection, site: Site) -> Page:
    """The page for those who send a result."""
    newest = read(connection, Overview, "newest")
    example = _example(newest[0]) if newest else MADE_UP
    return render("contribute.md.jinja", path="contribute.md", site=site, example=example)


def _example(row: Overview) -> Example:
    return Example(
        device=f"{row.device_label}, {row.backend}",
        target=f"{row.target_label} {row.quantisation}",
        file=row.file,
        address=row.address,
    )
