"""The home page: a question to ask, and the strips of all devices and models."""

import duckdb

from pipeline.site.pages import answer_card, answer_files, answer_pages, strip_data, strips
from pipeline.site.pages.model import Page, Site
from pipeline.site.pages.template_environment import render
from pipeline.site.rows import read
from schemas.vocabulary import TASKS


def home(connection: duckdb.DuckDBPyConnection, site: Site) -> Page:
    groups, left_out = strips.by_model(strips.default_rows(read(connection, "strip")))
    return render(
        "home.md.jinja",
        path="index.md",
        site=site,
        groups=groups,
        left_out=left_out,
        axis=strips.axis(),
        sources=read(connection, "sources"),
        machine_path=strip_data.PATH,
        answers_folder=answer_files.FOLDER,
        common=answer_pages.listed(connection),
        empty_card=answer_card.Card(),
        machine_tasks=tuple(TASKS),
    )
