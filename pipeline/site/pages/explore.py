"""Write the page Explore: all cells in a table with filters, and two settings side by side."""

from collections.abc import Iterable, Iterator
from types import SimpleNamespace

import duckdb
import polars as pl
from polars import col

from estimates.gpu_names import vendor_of
from pipeline.site.pages import answer_card, answer_files
from pipeline.site.pages.answer_card import CLEAR
from pipeline.site.pages.cells import (
    ALL_TASKS,
    DEFAULT_ENGINE,
    PUBLISHED,
    axes_of,
    cells_file,
    task_label,
)
from pipeline.site.pages.model import Asset, Page, Site
from pipeline.site.pages.template_environment import render
from pipeline.site.rows import frame, read
from schemas.vocabulary.documents import document

LOSSES = ("hurts-confirmed", "hurts", "slower-in-all")
TOP = 25  # rows in the page itself, for readers without JavaScript
FILTERS, MORE, AXES = document("explore", "pipeline.site").values()


def explore(connection: duckdb.DuckDBPyConnection, site: Site) -> Iterator[Page | Asset]:
    cells = with_vendors(frame(connection, "explore_cells"))
    files = [cells_file(cells)] if len(cells) else []
    yield from files
    single = cells.filter(col("task") != ALL_TASKS)
    measured = single.filter(tier="measured")
    yield render(
        "explore.md.jinja",
        path="explore.md",
        site=site,
        data=files[0].path if files else None,
        answers_folder=answer_files.FOLDER,
        empty_card=answer_card.Card(),
        filters=FILTERS,
        more_filters=MORE | {name: AXES[name] for name in axes_of(cells) if name in AXES},
        default_engine=DEFAULT_ENGINE,
        published=PUBLISHED,
        task_label=task_label,
        measured=len(measured),
        printed=single.filter(tier=PUBLISHED).height,
        single=len(single),
        top=[SimpleNamespace(**row) for row in single.head(TOP).iter_rows(named=True)],
        sources=read(connection, "sources"),
        losing=measured.filter(col("verdict").is_in(LOSSES)).height,
        directions=directions(single["speedup"]),
    )


def with_vendors(cells: pl.DataFrame) -> pl.DataFrame:
    """Fill in missing vendors by device name, because public sources name only the card."""
    names = {label: vendor_of(label) for label in cells["device_label"].unique()}
    named = col("device_label").replace_strict(names, return_dtype=pl.String)
    return cells.with_columns(col("vendor").fill_null(named)) if names else cells


def directions(speedups: Iterable[float | None]) -> dict[str, int]:
    """Count losses, near-even speedups and gains, by the same threshold as on answer cards."""
    known = [each for each in speedups if each is not None]
    slower = sum(each < 1 / CLEAR for each in known)
    faster = sum(each > CLEAR for each in known)
    return {"hurts": slower, "even": len(known) - slower - faster, "helps": faster}
