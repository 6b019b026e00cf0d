"""A reported figure is a claim: it counts in nothing until a maintainer has checked it."""

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import duckdb
import pytest

from pipeline.data.aggregate import view_queries
from pipeline.data.database import open_database
from pipeline.intake.figure_form import published
from pipeline.site.pages import strips
from pipeline.site.pages.device_and_model_pages import place_pages
from pipeline.site.pages.model import Site
from pipeline.site.rows import read
from tests.pipeline.tables import one, rows

RESULTS = Path(__file__).resolve().parents[2] / "results"
SOURCES = ("docai-hu-gemma4-vs-qwen36", "qwen38-mtp-sweeps", "r-localllama-1tgxau6")
# Tables in which an unchecked figure has its own rows.
OWN = {"stated_row", "stated_figure", "stated_rate", "unchecked"}
FORM = {
    "url": "https://example.org/t/1",
    "who": "bea",
    "date": "2026-07",
    "card": "RTX 3090 24 GB",
    "model": "Qwen3.8-27B",
    "method": "mtp",
    "depth": "2",
    "before": "30",
    "after": "60",
}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    (tmp_path / "published").mkdir()
    for name in SOURCES:
        shutil.copy(RESULTS / "published" / f"{name}.json", tmp_path / "published")
    return tmp_path


def report(results: Path, answers: Mapping[str, str] = FORM, **by: str) -> str:
    given = {name: text for name, text in answers.items() if text}
    name, data = published(given, "2026-11-25", reported_by="eve", **by)
    (results / "published" / name).write_bytes(data)
    return name.removesuffix(".json")


def everything(connection: duckdb.DuckDBPyConnection) -> dict[str, list[tuple[object, ...]]]:
    return {name: rows(connection, f"from {name}") for name in view_queries() if name not in OWN}


def hostile() -> Iterator[Mapping[str, str]]:
    yield FORM
    yield FORM | {"after": "600"}
    yield FORM | {"depth": "3", "before": "", "after": "", "speedup": "0.05"}
    yield FORM | {"date": "2026-11", "model": "qwen3.8 27b", "card": "3090"}
    yield FORM | {"after": "crashed"}
    yield FORM | {"model": "Nobody-9B", "card": "RTX 9090 96 GB"}


def test_an_unchecked_figure_changes_no_table_but_its_own(results: Path) -> None:
    before = everything(open_database(results))
    for answers in hostile():
        report(results, answers)

    after = open_database(results)

    assert everything(after) == before
    assert one(after, "select count(*) from unchecked") == (6,)
    assert strips.main_rows(after)


def test_a_checked_figure_counts_for_its_card_and_moves_no_other(results: Path) -> None:
    query = "select device, target, speedup, people from pair where scope = 'pair' and task = 'all'"
    query += " and condition is null and tier_order = 1"
    before = set(rows(open_database(results), query))
    report(results, checked_by="mae")

    after = set(rows(open_database(results), query))

    assert {row[:2] for row in before ^ after} == {("rtx-3090-24-gb", "qwen3-8-27b")}


@pytest.mark.parametrize("number", [1, 7])
def test_checked_forms_do_not_choose_the_usual_depth_or_method_of_other_cards(
    results: Path, number: int
) -> None:
    query = "select device, target, method, depth, speedup from pair"
    query += " where scope in ('pair', 'depth') and device <> 'rtx-3090-24-gb'"
    before = rows(open_database(results), query)
    for at in range(number):
        more = {"who": f"bea{at}", "method": "dflash", "depth": "9", "after": str(31 + at)}
        report(results, FORM | more, checked_by="mae")
        report(results, FORM | more | {"method": "mtp"}, checked_by="mae")

    assert rows(open_database(results), query) == before


def test_an_empty_field_or_a_missing_caveat_displaces_nothing(results: Path) -> None:
    name = report(results, FORM | {"task": "code", "doubt": "approximate"}, checked_by="mae")
    document = json.loads((results / "published" / f"{name}.json").read_bytes())
    del document["reported_by"]  # a maintainer's own row
    for other in (results / "published").glob("*.json"):
        other.unlink()
    (results / "published" / f"{name}.json").write_text(json.dumps(document), "utf-8")
    report(results, FORM | {"who": "eve", "before": "40"}, checked_by="mae")

    pair = "select people, speedup from pair where scope = 'pair' and task = 'all'"

    # The median, on a log scale, of 60 / 30 by bea and of 60 / 40 by eve.
    people, speedup = one(open_database(results), pair)
    assert (people, round(speedup, 3)) == (2, 1.732)


def test_explore_links_only_to_pages(results: Path) -> None:
    report(results, FORM | {"model": "Nobody-9B", "streams": "8"}, checked_by="mae")
    report(results, FORM | {"who": "ada", "streams": "8"}, checked_by="mae")
    connection = open_database(results)
    linked = {row.target for row in read(connection, "explore_cells")}

    pages = {each.path for each in place_pages(connection, Site(bundle=""))}

    assert "qwen3-8-27b" in linked
    assert {f"models/{target}.md" for target in linked} <= pages


def test_the_map_says_that_people_are_from_one_source(results: Path) -> None:
    for path in (results / "published").glob("*.json"):
        path.unlink()
    for at, url in enumerate(("https://example.org/t/1?page=1", "https://example.org/t/1?page=2")):
        report(results, FORM | {"url": url, "who": f"b{at}", "after": str(50 + at)}, checked_by="m")
    (row,) = strips.main_rows(open_database(results))
    assert strips.strip(row).words.startswith("2 people from one source")

    other = {"url": "https://example.org/t/3", "who": "b3", "after": "70"}
    report(results, FORM | other, checked_by="m")
    (row,) = strips.main_rows(open_database(results))
    assert strips.strip(row).words.startswith("3 people \N{MIDDLE DOT}")


def test_an_unchecked_figure_is_in_a_list_of_its_card_and_its_model(results: Path) -> None:
    name = report(results)
    report(results, FORM | {"after": "crashed", "who": "cyd"})

    found = read(open_database(results), "unchecked")

    assert {(row.device, row.target) for row in found} == {("rtx-3090-24-gb", "qwen3-8-27b")}
    assert {(row.source, row.speedup, row.contributor) for row in found} >= {(name, 2, "bea")}
    assert [row.speedup for row in found if row.contributor == "cyd"] == [None]
