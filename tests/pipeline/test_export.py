"""Exported files are deterministic and harmless to open."""

import csv
import hashlib
import json
import re
from html import unescape
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from estimates.model import ESTIMATOR
from pipeline.data.database import open_database
from pipeline.data.export import EXPORTS, PACKAGE, SPEEDUPS, SUMS, export
from pipeline.data.formats import FORMATS, as_csv, guarded
from pipeline.site.pages.data import data_page
from pipeline.site.pages.model import Site
from tests.pipeline.tables import campaign, database


@pytest.fixture(scope="module")
def folder(full: duckdb.DuckDBPyConnection, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data")
    export(full, path)
    return path


def test_the_same_results_give_the_same_bytes(corpus: Path, folder: Path, tmp_path: Path) -> None:
    export(open_database(corpus), tmp_path)

    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        path.name: path.read_bytes() for path in folder.iterdir()
    }


def test_the_checksums_are_those_of_all_other_files(folder: Path) -> None:
    lines = (folder / SUMS).read_text().splitlines()
    listed = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}

    assert listed == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if path.name != SUMS
    }


@pytest.mark.parametrize(("stem", "table"), EXPORTS.items())
def test_every_format_holds_every_row(
    stem: str, table: str, folder: Path, full: duckdb.DuckDBPyConnection
) -> None:
    expected = len(full.table(table).fetchall())

    with (folder / f"{stem}.csv").open(newline="", encoding="utf-8") as stream:
        assert len(list(csv.DictReader(stream))) == expected
    found = json.loads((folder / f"{stem}.json").read_bytes())
    assert len(found[stem] if stem == SPEEDUPS else found) == expected
    assert pq.read_table(folder / f"{stem}.parquet").num_rows == expected


def test_every_file_that_can_names_the_estimator(folder: Path) -> None:
    package = json.loads((folder / PACKAGE).read_bytes())
    speedups = json.loads((folder / f"{SPEEDUPS}.json").read_bytes())
    cells = pq.read_schema(folder / "cells.parquet")

    assert package["estimator"] == speedups["estimator"] == ESTIMATOR
    assert (cells.metadata or {})[b"estimator"] == ESTIMATOR.encode()


def test_the_package_names_every_file_with_its_size_and_columns(folder: Path) -> None:
    package = json.loads((folder / PACKAGE).read_bytes())
    resources = {resource["path"]: resource for resource in package["resources"]}

    assert set(resources) == {path.name for path in folder.iterdir()} - {PACKAGE, SUMS}
    for name, resource in resources.items():
        assert resource["bytes"] == (folder / name).stat().st_size
    fields = {field["name"]: field for field in resources["cells.csv"]["schema"]["fields"]}
    assert fields["speedup"] == {
        "name": "speedup",
        "type": "number",
        "title": "Speedup",
        "description": "Time without speculation divided by time with speculation, for the same "
        "tokens: the ratio of the mean times per token over prompts and tasks.",
        "unit": "×",  # noqa: RUF001 - the multiplication sign is meant
        "better": "higher",
    }


def test_figures_and_times_are_written_plainly(tmp_path: Path) -> None:
    export(database(campaign(1.25, within=(1.2, 1.3))), tmp_path)

    with (tmp_path / "cells.csv").open(newline="", encoding="utf-8") as stream:
        (row,) = csv.DictReader(stream)
    assert (row["speedup"], row["confirmed"]) == ("1.25", "false")
    assert re.fullmatch(r"1\.\d+", row["interval_low"])
    assert row["last_measured"] == "2026-11-21T09:00:00Z"
    assert row["acceptance_rate"] == ""
    (cell,) = json.loads((tmp_path / "cells.json").read_bytes())
    assert (cell["speedup"], cell["acceptance_rate"]) == (1.25, None)
    assert cell["last_measured"] == "2026-11-21T09:00:00Z"


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\r=1", " =1", "\N{FULLWIDTH EQUALS SIGN}1"]
)
def test_a_cell_that_a_spreadsheet_would_run_is_guarded(text: str) -> None:
    assert guarded(text) == f"'{text}"


@pytest.mark.parametrize("text", ["RTX 4060", "1-2", "a=b", "", " x", "'=1"])
def test_a_cell_that_no_spreadsheet_would_run_stays_as_it_is(text: str) -> None:
    assert guarded(text) == text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("RTX 9;=cmd|' /C calc'!A0", "RTX 9;'=cmd|' /C calc'!A0"),
        ("a; @b", "a; '@b"),
        ("\t=1", "'\t'=1"),
        ("a,=b", "a,'=b"),
        ("a\t+1|-1", "a\t'+1|'-1"),
        ("a; b, c | d", "a; b, c | d"),
    ],
)
def test_no_part_of_a_cell_is_a_formula_where_another_sign_separates(
    text: str, written: str
) -> None:
    assert guarded(text) == written


def test_numbers_below_zero_in_a_list_stay_numbers() -> None:
    table = pa.table({"a": [[-1, -2]], "b": [["x;=1", "-y"]]})

    (_, row) = csv.reader(as_csv(table).decode().splitlines())

    assert json.loads(row[0]) == [-1, -2]
    assert json.loads(row[1]) == ["x;'=1", "-y"]


def test_a_formula_in_a_contributors_note_is_guarded_in_csv_only(tmp_path: Path) -> None:
    note = '=HYPERLINK("x")'
    connection = database(campaign(1.0))
    connection.execute("update submission set notes = $note", {"note": note})

    export(connection, tmp_path)

    with (tmp_path / "submissions.csv").open(newline="", encoding="utf-8") as stream:
        (row,) = csv.DictReader(stream)
    assert row["notes"] == f"'{note}"
    assert json.loads((tmp_path / "submissions.json").read_bytes())[0]["notes"] == note


def test_the_question_on_the_data_page_is_answered_by_the_clear_settings(tmp_path: Path) -> None:
    clear = campaign(1.3, within=(1.29, 1.31))
    unclear = campaign(1.4, within=(0.7, 2.8), depth=8)
    connection = database(clear, unclear)
    page = data_page(connection, Site(bundle=""), export(connection, tmp_path))
    (query,) = re.findall(r'duckdb -c "([^"]*)"', unescape(page.text))

    found = duckdb.sql(query.replace("'cells.parquet'", f"'{tmp_path}/cells.parquet'"))

    assert [(row[3], row[5]) for row in found.fetchall()] == [(1.3, "helps")]


def test_an_empty_corpus_exports_headings_only(
    empty: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    files = {file.name: file for file in export(empty, tmp_path)}

    assert files["cells.csv"].rows == 0
    assert (tmp_path / "cells.csv").read_text().startswith("cell,tier,device,")
    assert json.loads((tmp_path / "cells.json").read_bytes()) == []


def test_a_large_table_is_parquet_in_parts_and_its_files_list_them(
    full: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    trials = full.table("trial")
    count, columns = len(trials.fetchall()), len(trials.columns)

    files = export(full, tmp_path, most_values=count * columns - 1, run=2)

    parts = sorted((tmp_path / "trials").iterdir())
    listed = json.loads((tmp_path / "trials.json").read_bytes())
    assert [each["part"] for each in listed] == [f"trials/{each.name}" for each in parts]
    assert len(parts) > 2
    assert sum(pq.read_table(each).num_rows for each in parts) == count
    assert pq.read_table(parts).equals(trials.to_arrow_table())
    for each in listed:
        data = (tmp_path / each["part"]).read_bytes()
        assert (each["bytes"], each["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
    assert {f"trials.{form}" for form in FORMATS} <= {f.name for f in files if f.role == "list"}
    assert (tmp_path / "cells.json").read_bytes().startswith(b'[{"cell"')


def test_the_list_of_parts_for_programs_names_its_version(
    full: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    export(full, tmp_path, most_values=10, part_values=1000)

    found = json.loads((tmp_path / "speedups.json").read_bytes())
    assert (found["format"], found["version"]) == ("draftmap-speedups", 2)
    assert found["parts"][0]["part"] == "speedups/part-0001.parquet"
