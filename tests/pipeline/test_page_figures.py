"""Does every figure of a page equal the one in the tables? Each kind of page against its query.

A page's rows are read as plain text; what SQL says is printed once more by `page_figures.toml`.
"""

from __future__ import annotations

import re
import tomllib
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pipeline.database import open_database
from tests.sites import built_site

if TYPE_CHECKING:
    import duckdb

QUERIES = tomllib.loads(Path(__file__).with_name("page_figures.toml").read_text("utf-8"))
HEADLINE = QUERIES.pop("headline")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_site(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="module")
def connection(site: Path) -> duckdb.DuckDBPyConnection:
    return open_database(site.parent / "results")


def rows_of(page: Path) -> list[str]:
    """Every row of every table on a page as text, white space as single blanks."""
    html = (page / "index.html" if page.is_dir() else page).read_text("utf-8")
    rows = re.findall(r"<tr\b.*?</tr>", html, flags=re.DOTALL)
    return [" ".join(unescape(re.sub(r"<[^>]+>", " ", row)).split()) for row in rows]


def words(texts: tuple[str | None, ...]) -> list[str]:
    """Texts as a page prints them: what is absent has none, white space is single blanks."""
    return [" ".join(text.split()) for text in texts if text is not None]


@pytest.mark.parametrize("kind", QUERIES)
def test_the_rows_of_a_page_say_what_the_table_says(
    site: Path, connection: duckdb.DuckDBPyConnection, kind: str
) -> None:
    expected = connection.execute(QUERIES[kind]).fetchall()
    pages = {address: rows_of(site / address) for address, *_ in expected}

    missing = [
        row
        for row in expected
        if not any(all(text in line for text in words(row[1:])) for line in pages[row[0]])
    ]
    assert len(expected) > 0
    assert missing == []


def test_the_tiles_of_home_are_the_headline(
    site: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    html = (site / "index.html").read_text("utf-8")

    found = connection.execute(HEADLINE).fetchone()
    assert tuple(re.findall(r'dm-tile__figure">([^<]+)<', html)) == found
