"""Does every figure of the site equal the one in SQL? Tables, sentences, charts, and the raw files.

What a page should say is asked of the database and printed once more by macros of its own; what
the raw files say is worked out without a line of the pipeline. What nobody compares is found too.
"""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow.parquet as pq
import pytest

from pipeline.data.database import open_database
from tests.pipeline.page_tables import CELL, ROW, Table, tables, text_of
from tests.sites import built_site

if TYPE_CHECKING:
    from collections.abc import Iterator


HERE = Path(__file__).parent
TABLES, SENTENCES, CHARTS = (
    tomllib.loads((HERE / f"page_{name}.toml").read_text("utf-8"))
    for name in ("tables", "sentences", "charts")
)
WORDS = (HERE / "page_words.sql").read_text("utf-8")
RAW = (HERE / "page_raw.sql").read_text("utf-8")
PROOFS = Path("pipeline/site/pages/proofs.toml")
BENCHES = Path("bench/figures")
# Compared below with the files that they are about, not with the database.
OF_FILES = {"data/", "proofs/"}
DIGITS = 4  # significant ones in the data of a chart
FORMATS = {
    name: f"select coalesce({words}, '–') from unnest(?::double[]) as t (v)"  # noqa: RUF001, S608 - a dash is meant, and all words are here
    for name, words in {
        "count": "p_0(v)",
        "number": "p_1(v)",
        "percent": "p_share(v)",
        "percent1": "printf('%.1f %%', 100 * v)",
        "signed": "replace(replace(printf('%+.1f %%', 100 * v), '-0.0', '+0.0'), '-', '−')",  # noqa: RUF001 - a minus sign is meant
        "ratio": "p_ratio(v)",
    }.items()
}
CHART = re.compile(r'data-spec="[^"]*/([^"/]+)\.json".*?<tbody>(.*?)</tbody>', re.DOTALL)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_site(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="module")
def connection(site: Path, tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    cache = shutil.copytree(site.with_name("cache"), tmp_path_factory.mktemp("kept") / "cache")
    opened = open_database(site.parent / "results", cache=cache)
    opened.execute(WORDS)
    return opened


@pytest.fixture(scope="module")
def shown(site: Path) -> dict[tuple[str, str], Table]:
    return tables(site)


@pytest.fixture(scope="module")
def expected(connection: duckdb.DuckDBPyConnection) -> dict[str, Expected]:
    """What SQL says about each kind of table: rows by page and name of the table."""
    return {kind: Expected(connection, query) for kind, query in TABLES.items()}


class Expected:
    """The rows that a query demands, by page and table, and the headings that it knows."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, query: str) -> None:
        cursor = connection.execute(query)
        self.headings = [column[0] for column in cursor.description][2:]
        self.rows: dict[tuple[str, str], list[tuple[str | None, ...]]] = defaultdict(list)
        for page, name, *values in cursor.fetchall():
            self.rows[page, name].append(tuple(_plain(value) for value in values))

    def of(self, table: Table) -> list[tuple[str, ...]]:
        """The rows of a table in the columns that it has, sorted."""
        kept = [number for number, name in enumerate(self.headings) if name in table.headings]
        found = self.rows[table.page, table.name]
        return sorted(tuple(row[number] or "" for number in kept) for row in found)


def _plain(text: str | None) -> str | None:
    return None if text is None else " ".join(text.split())


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_says_what_sql_says(
    shown: dict[tuple[str, str], Table], expected: dict[str, Expected], kind: str
) -> None:
    wanted = expected[kind]

    assert len(wanted.rows) > 0
    for key in wanted.rows:
        table = shown[key]
        kept = [name for name in wanted.headings if name in table.headings]
        assert sorted(tuple(row[name] for name in kept) for row in table.rows) == wanted.of(table)


def test_no_column_of_figures_is_left_uncompared(
    shown: dict[tuple[str, str], Table], expected: dict[str, Expected]
) -> None:
    compared = {key: set(wanted.headings) for wanted in expected.values() for key in wanted.rows}
    left = {
        key: table.figures - compared.get(key, set())
        for key, table in shown.items()
        if table.page not in OF_FILES
    }

    assert {key: columns for key, columns in left.items() if columns} == {}
    assert sum(len(table.rows) for table in shown.values()) > 1000


@pytest.mark.parametrize("kind", SENTENCES)
def test_a_sentence_says_what_sql_says(
    site: Path, connection: duckdb.DuckDBPyConnection, kind: str
) -> None:
    wanted = [
        (page, _plain(words)) for page, words in connection.execute(SENTENCES[kind]).fetchall()
    ]
    texts = {page: _text(site / page) for page, _ in wanted}

    assert len(wanted) > 0
    assert [(page, words) for page, words in wanted if (words or "?") not in texts[page]] == []


TITLE = re.compile(r' title="([^"]*)"')


def _text(path: Path) -> str:
    written = (path / "index.html" if path.is_dir() else path).read_text("utf-8")
    if path.suffix == ".json":
        return written
    titles = " ".join(TITLE.findall(written))  # what a square says when it is pointed at
    return f"{text_of(written)} {text_of(titles)}"


@pytest.mark.parametrize("kind", CHARTS)
def test_the_data_of_a_chart_is_what_sql_says(
    site: Path, connection: duckdb.DuckDBPyConnection, kind: str
) -> None:
    cursor = connection.execute(CHARTS[kind])
    names = [column[0] for column in cursor.description][1:]
    wanted = defaultdict(list)
    for file, *values in cursor.fetchall():
        wanted[file].append([_rounded(value) for value in values])

    assert len(wanted) > 0
    for file, rows in wanted.items():
        data = _data(site, file, {*names})
        assert {key for row in data for key, value in row.items() if _is_figure(value)} <= {*names}
        assert sorted(map(repr, ([row[name] for name in names] for row in data))) == sorted(
            map(repr, rows)
        )


def test_no_chart_is_left_uncompared(site: Path, connection: duckdb.DuckDBPyConnection) -> None:
    compared = {row[0] for query in CHARTS.values() for row in connection.execute(query).fetchall()}

    assert {path.stem for path in site.glob("assets/charts/*.json")} == compared


def test_the_table_under_a_chart_holds_its_data(site: Path) -> None:
    seen = 0
    for page in site.rglob("index.html"):
        for file, body in CHART.findall(page.read_text("utf-8")):
            data = [[*row.values()] for row in _data(site, file, set())]
            for row in ROW.findall(body):
                figures = {text_of(cell) for _, kind, cell in CELL.findall(row) if "dm-num" in kind}
                seen += len(figures)
                assert any(_has(each, figures) for each in data), (page, file, figures)
    assert seen > 1000


def _data(site: Path, file: str, names: set[str]) -> list[dict[str, Any]]:
    """The longest data set of a chart with these columns; the others draw its lines."""
    spec = json.loads((site / "assets" / "charts" / f"{file}.json").read_bytes())
    return max((rows for rows in spec["datasets"].values() if names <= {*rows[0]}), key=len)


def _is_figure(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _rounded(value: object) -> object:
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def _has(values: list[object], figures: set[str]) -> bool:
    """Whether these are the values, which a chart keeps with fewer digits than its table prints."""
    words = {str(value) for value in values if not isinstance(value, float)}
    known = [value for value in values if isinstance(value, float)]
    left = {figure.replace(",", "") for figure in figures - words}
    digit = 10.0 ** (1 - DIGITS)
    return all(
        re.fullmatch(r"-?[0-9.]+", one)
        and any(abs(float(one) - each) <= 0.005001 + abs(each) * digit / 2 for each in known)
        for one in left
    )


def test_pages_say_what_the_raw_files_say(
    site: Path, connection: duckdb.DuckDBPyConnection, shown: dict[tuple[str, str], Table]
) -> None:
    files = sorted(str(path) for path in site.glob("data/submissions/*.json"))
    found = {
        (page, table.name.removeprefix("Verdicts of arm "), row["Task"]): (
            row["Speedup per token, 95 % interval"].split()[0], row["Tokens per round"], row["R"]
        )
        for (page, _), table in shown.items()
        for row in table.rows
        if table.name.startswith("Verdicts of arm ")
        and not row["Speedup per token, 95 % interval"].startswith("–")  # noqa: RUF001 - a dash is meant
    }  # fmt: skip

    raw = duckdb.sql(RAW, params={"files": files}).fetchall()
    said = "select p_task(?), p_ratio(?), p_2(?), p_2(?)"
    assert found == {
        (f"submissions/{submission}/", arm, words[0]): words[1:]
        for submission, arm, *values in raw
        for words in connection.execute(said, values).fetchall()
    }
    assert len(found) > 200


def test_the_page_of_the_data_counts_the_rows_of_its_files(
    site: Path, shown: dict[tuple[str, str], Table]
) -> None:
    rows = shown["data/", "Tables to download"].rows

    assert len(rows) > 10
    for row in rows:
        files = [site / "data" / f"{row['Table']}.{kind}" for kind in ("csv", "json", "parquet")]
        assert row["Rows"] == f"{pq.read_metadata(files[2]).num_rows:,}"
        sizes = {f"{kind.suffix[1:]} {kind.stat().st_size / 1024:,.1f} KiB" for kind in files}
        assert all(size in row["Files"] for size in sizes)


def test_the_page_of_the_proofs_says_what_the_benches_wrote(
    shown: dict[tuple[str, str], Table], connection: duckdb.DuckDBPyConnection
) -> None:
    for proof in tomllib.loads(PROOFS.read_text("utf-8"))["proof"]:
        table = shown["proofs/", proof["title"]]
        columns = [column for column in proof["columns"] if column[2] in FORMATS]

        assert table.figures == {heading for _, heading, _ in columns}
        for key, heading, words in columns:
            values = [row.get(key) for row in _measured(proof)]
            said = connection.execute(FORMATS[words], [values]).fetchall()
            assert [(row[heading],) for row in table.rows] == said


def _measured(proof: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows of a bench's file that its proof shows."""
    document = json.loads((BENCHES / proof["file"]).read_text("utf-8"))
    found = document[proof["rows"]] if "rows" in proof else [document]
    listed = [found[name] for name in sorted(found)] if isinstance(found, dict) else found
    only = proof.get("only", {})
    yield from (row for row in listed if all(row[name] in kept for name, kept in only.items()))
