"""The page Explore: its first rows, what the filters are called, and two settings side by side."""

from collections import Counter
from collections.abc import Iterable, Iterator
from types import SimpleNamespace

import duckdb
from polars import col

from pipeline.site.pages import answer_card, answer_files
from pipeline.site.pages.cells import ALL_TASKS, DEFAULT_ENGINE, MOST_CELLS, axes_of, cells_files
from pipeline.site.pages.model import Asset, Page, Site
from pipeline.site.pages.template_environment import render
from pipeline.site.rows import frame, read
from schemas.vocabulary import TASKS, VERDICTS
from schemas.vocabulary.documents import document

LOSSES = ("hurts-confirmed", "hurts", "slower-in-all")
TOP = 25  # rows in the page itself, for readers without JavaScript
FILTERS, AXES = document("explore", "pipeline.site").values()


def explore(
    connection: duckdb.DuckDBPyConnection, site: Site, most_cells: int = MOST_CELLS
) -> Iterator[Page | Asset]:
    cells = frame(connection, "explore_cells")
    files = cells_files(cells, most_cells) if len(cells) else None
    written = (files.first, files.settings, files.parts, *files.others) if files else ()
    yield from dict.fromkeys(filter(None, written))
    parts = files.parts.path if files and files.parts else None
    measured = cells.filter(tier="measured").filter(col("task") != ALL_TASKS)
    shown = files.cells.filter(tier="measured") if files and parts else measured
    yield render(
        "explore.md.jinja",
        path="explore.md",
        site=site,
        data=files.first.path if files else None,
        settings=files.settings.path if files else None,
        newest=read(connection, "newest")[:TOP],
        credits=[row for row in read(connection, "credits") if row.counted],
        parts=parts,
        answers_folder=answer_files.FOLDER,
        empty_card=answer_card.Card(),
        filters=FILTERS | {name: AXES[name] for name in axes_of(cells) if name in AXES},
        default_engine=DEFAULT_ENGINE,
        total=len(measured),
        shown=len(shown),
        tasks=tuple(name for name in TASKS if cells.filter(task=name).height),
        top=[SimpleNamespace(**row) for row in shown.head(TOP).iter_rows(named=True)],
        sources=read(connection, "sources"),
        losing=measured.filter(col("verdict").is_in(LOSSES)).height,
        shares=shares(shown["mark"]),
    )


def shares(marks: Iterable[str]) -> dict[str, int]:
    """How many cells have each verdict, losses first, as the page's script lists them."""
    counts = Counter(marks)
    return {mark: counts[mark] for mark in dict.fromkeys((*LOSSES, *VERDICTS)) if counts[mark]}
