"""Write the home page: the question form, and the strips of all devices and models."""

from collections.abc import Sequence

import duckdb

from pipeline.site.pages import answer_card, strips
from pipeline.site.pages.answer_pages import FOLDER, CommonAnswer
from pipeline.site.pages.answer_rows import MAIN_MEMORIES_GIB
from pipeline.site.pages.model import Page, Site
from pipeline.site.pages.template_environment import render
from pipeline.site.rows import read
from schemas.vocabulary import TASKS


def home(connection: duckdb.DuckDBPyConnection, site: Site, common: Sequence[CommonAnswer]) -> Page:
    rows = strips.rows_by_method(connection)
    groups, left_out = strips.by_method(rows)
    return render(
        "home.md.jinja",
        path="index.md",
        site=site,
        groups=groups,
        left_out=left_out,
        choices=tuple(strips.choices(rows)),
        sources=read(connection, "sources"),
        answers_folder=FOLDER,
        common=common,
        empty_card=answer_card.Card(),
        machine_tasks=tuple(TASKS),
        main_memories_gib=MAIN_MEMORIES_GIB,
    )
