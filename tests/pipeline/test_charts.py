"""Every chart can be drawn from data and from none, says what it shows, and loads nothing."""

import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import altair as alt
import duckdb
import pytest
import vl_convert

from estimates.summary import summarize
from pipeline.site import charts, rows
from pipeline.site.charts import Chart, definitions, draw, picture_of
from pipeline.site.charts.captions import CAPTIONS
from pipeline.site.charts.pictures import PICTURES
from pipeline.site.charts.theme import (
    METHOD_COLOURS,
    darkened,
)
from pipeline.site.pages import overviews
from tests.concurrency import concurrent
from tests.contexts import at_depth
from tests.nightly import few
from tests.pipeline.tables import (
    Example,
    accepted,
    campaign,
    database,
    entry,
    one,
    real_database,
)

SQL = Path(rows.__file__).with_name("sql")
CHARTS = tuple(definitions())
SERIES = ("concurrency", "context")  # of campaigns that the small corpus lacks


@pytest.fixture(scope="module")
def busy() -> duckdb.DuckDBPyConnection:
    found = (concurrent(1, 4), at_depth(512), at_depth(4096))
    return database(*(entry(each, summarize(each)) for each in found))


@pytest.fixture(scope="module")
def drawn(full: duckdb.DuckDBPyConnection, busy: duckdb.DuckDBPyConnection) -> dict[str, Chart]:
    parameters = _parameters(full)
    return {
        name: draw(busy if name.startswith(SERIES) else full, name, **parameters.get(name, {}))
        for name in CHARTS
    }


def test_a_picture_for_dark_pages_equals_that_of_the_dark_theme(drawn: dict[str, Chart]) -> None:
    tasks = drawn["tasks"]

    assert picture_of(tasks.spec, "dark") == tasks.svg_dark


def test_no_mark_has_a_colour_that_dark_pages_exchange() -> None:
    marks = set(METHOD_COLOURS.values())

    assert [each for each in marks if darkened(f'="{each}"') != f'="{each}"'] == []


@pytest.mark.parametrize("name", few(CHARTS, 5))
def test_a_chart_has_pictures_table_and_words(name: str, drawn: dict[str, Chart]) -> None:
    chart = drawn[name]

    assert not chart.empty
    assert alt.Chart.from_dict(chart.spec).to_dict()["width"] == "container"  # it is valid
    assert "config" not in chart.spec
    assert chart.table.rows
    assert all(len(row) == len(chart.table.columns) for row in chart.table.rows)
    assert chart.takeaway.endswith(".")
    assert chart.alt.endswith(".")


@pytest.mark.parametrize("name", few(CHARTS, 5))
def test_static_pictures_are_whole_and_of_both_schemes(name: str, drawn: dict[str, Chart]) -> None:
    for svg in (drawn[name].svg, drawn[name].svg_dark):
        marks = [node.tag.rpartition("}")[2] for node in ET.fromstring(svg).iter()]  # noqa: S314
        assert marks[0] == "svg"
        assert "path" in marks
        assert "script" not in marks
        # The renderer counts ids over all that it has drawn: they would differ from run to run.
        assert re.findall(r'\bid="', svg) == []
    assert drawn[name].svg != drawn[name].svg_dark
    # A height per step makes the library complain in the reader's console.
    assert isinstance(drawn[name].spec["height"], int)


@pytest.mark.parametrize("name", few(CHARTS, 5))
def test_tooltips_and_labels_use_words(name: str, drawn: dict[str, Chart]) -> None:
    live = vl_convert.vegalite_to_svg({**drawn[name].spec, "width": 600})  # as a browser draws it
    nodes = list(ET.fromstring(live).iter())  # noqa: S314 - our own picture
    spoken = {node.attrib["aria-label"] for node in nodes if "aria-label" in node.attrib}
    titles = {each["title"] for each in _tooltips(drawn[name].spec)}

    headings = set(drawn[name].table.columns)
    assert titles == headings
    assert any(text.startswith(f"{drawn[name].table.columns[0]}: ") for text in spoken)
    field = re.compile(r"\b[a-z]+_[a-z_]+\b|undefined|null|NaN")
    assert [text for text in {*spoken, *titles} if field.search(text)] == []


def _tooltips(spec: object) -> list[dict[str, str]]:
    """Every tooltip of a specification, however deep."""
    if isinstance(spec, list):
        return [found for each in spec for found in _tooltips(each)]
    if not isinstance(spec, dict):
        return []
    own = spec.get("tooltip", [])
    return [*own, *(found for each in spec.values() for found in _tooltips(each))]


@pytest.mark.parametrize("name", few(CHARTS, 5))
def test_without_data_a_chart_says_so(name: str, empty: duckdb.DuckDBPyConnection) -> None:
    chart = draw(empty, name)

    assert chart.empty
    assert (chart.spec, chart.svg, chart.table.rows) == ({}, "", ())
    assert chart.takeaway == "Nothing has been measured here yet."


@pytest.mark.parametrize("name", few(CHARTS, 5))
def test_parameters_are_bound_and_all_of_them_used(name: str) -> None:
    asked = re.findall(r"\$([a-z]+)", rows.text(definitions()[name].query or name))

    assert set(asked) == set(definitions()[name].parameters)


def test_a_parameter_is_a_value_and_never_a_piece_of_a_query(
    full: duckdb.DuckDBPyConnection,
) -> None:
    assert draw(full, "submission_tasks", submission="' or 'a' = 'a").empty


@pytest.mark.parametrize("kind", ["device", "target"])
def test_a_place_is_drawn_with_its_own_figures(kind: str) -> None:
    results = real_database()
    cells = results.table("cell").filter("task = 'all'").select(kind, "depth", "speedup").fetchall()
    drawn = charts.rows_of(results, "depths", by=kind)
    measured = [row for row in drawn if row["tier"] != "published"]

    assert {row["place"] for row in measured} <= {place for place, _, _ in cells}
    assert {(row["place"], row["depth"], row["speedup"]) for row in measured} <= {*cells}
    assert len(measured) > 1


def test_every_chart_is_on_a_page() -> None:
    site = Path(rows.__file__).parent
    pages = "".join(path.read_text("utf-8") for path in (site / "pages").glob("*.py"))
    drawn = set(re.findall(r'draw\(\s*connection,\s*"(\w+)"', pages))
    sections = tomllib.loads((site / "moves.toml").read_text("utf-8")).values()
    described = {entry["chart"] for entry in sections}

    assert drawn.union(described, overviews.CHARTS.values(), {"depths"}) == definitions().keys()


def test_every_chart_has_a_query_a_picture_and_a_caption() -> None:
    for name, definition in definitions().items():
        assert (SQL / f"{definition.query or name}.sql").exists()
        assert definition.picture in PICTURES
        assert (name in CAPTIONS) != (definition.caption is not None)
    assert {each.picture for each in definitions().values()} == set(PICTURES)
    assert set(CAPTIONS) <= set(CHARTS)


@pytest.mark.parametrize(("name", "parameters"), [("nothing", {}), ("tasks", {"colour": "red"})])
def test_unknown_names_are_refused(
    name: str, parameters: dict[str, str], empty: duckdb.DuckDBPyConnection
) -> None:
    with pytest.raises(KeyError):
        draw(empty, name, **parameters)


@pytest.mark.parametrize("name", few(CHARTS, 5))
def test_charts_print_words_in_place_of_ids(name: str, drawn: dict[str, Chart]) -> None:
    words = set(re.findall(r">([^<>]+)</text>", drawn[name].svg))
    cells = {value for row in drawn[name].table.rows for value in row}

    assert not (words | cells) & {"all", "json", "code", "draft-model", "no-clear-difference", "t"}


def test_arms_with_equal_method_and_depth_are_labelled_by_id() -> None:
    single = campaign(1.5)
    baseline, arm = single.submission.arms
    twins = ("small", "large")
    submission = replace(
        single.submission,
        arms=(baseline, *(replace(arm, id=name) for name in twins)),
        trials=tuple(
            replace(trial, arm="small") if trial.arm == arm.id else trial
            for trial in single.submission.trials
        ),
    )
    (estimate,) = single.summary.estimates
    summary = replace(
        single.summary, estimates=tuple(replace(estimate, arm=name) for name in twins)
    )
    both = entry(submission, summary)

    assert _arms_of(single) == {"Draft model, depth 4"}
    assert _arms_of(both) == {"small", "large"}


def test_the_break_even_counts_what_cannot_win() -> None:
    connection = database(
        campaign(0.4, task=None, tokens_per_round=2.2, quantisation="Q8_0"),
        campaign(1.25, task=None, tokens_per_round=2.5),
    )

    assert draw(connection, "break_even").takeaway == (
        "1 of 2 cells yield more tokens per round than the round costs;"
        " in 1 of the 2, a round costs more than even a fully accepted draft returns."
    )


@pytest.fixture(scope="module")
def moved() -> duckdb.DuckDBPyConnection:
    """One arm on three tasks through two backends, measured, and a faster import of one task."""
    return database(
        *(
            campaign(speedup, task=task, backend=backend, day=f"2026-11-0{day}")
            for day, (task, backend, speedup) in enumerate(
                (
                    ("chat", "cuda", 1.0),
                    ("code", "cuda", 1.5),
                    ("math", "cuda", 2.25),
                    ("chat", "vulkan", 0.5),
                    ("code", "vulkan", 0.75),
                    ("math", "vulkan", 1.125),
                ),
                start=1,
            )
        ),
        campaign(9.0, task="code", tier="imported"),
    )


def test_the_map_shows_the_best_tier_of_a_square_and_what_is_usual_there(
    moved: duckdb.DuckDBPyConnection,
) -> None:
    rows = {
        (row["choice"], row["task_label"]): (row["tier"], row["speedup"])
        for row in rows_of(moved, "whole_map")
    }

    assert rows["cuda", "Code"] == ("measured", 1.5)
    assert rows["cuda", "any"] == ("measured", 2.25)  # the most certain gain of three tasks
    assert rows["Draft model", "Code"] == rows["any", "Code"]
    assert rows["any", "Chat"] == ("measured", 1.0)  # of 1 and 0.5, the figure of the map
    assert draw(moved, "whole_map").headline.endswith(": too few to summarize")


def test_the_typical_speedup_of_a_method_is_of_one_tier(moved: duckdb.DuckDBPyConnection) -> None:
    assert [(row["tier"], row["typical"]) for row in rows_of(moved, "methods")] == [
        ("measured", 2.25),  # the figure of the map, and not the 9.0 that was imported
    ]


def rows_of(connection: duckdb.DuckDBPyConnection, name: str) -> list[dict[str, Any]]:
    return rows.frame(connection, name).to_dicts()


def _arms_of(campaign: Example) -> set[object]:
    chart = draw(database(campaign), "submission_tasks", submission=accepted(campaign).submission)
    return {row[chart.table.columns.index("Arm")] for row in chart.table.rows}


def _parameters(full: duckdb.DuckDBPyConnection) -> dict[str, dict[str, str]]:
    """The parameters of the charts of one submission."""
    (submission,) = one(
        full, "select submission from submission_overview where contributor = 'bob'"
    )
    return {
        "submission_tasks": {"submission": submission},
        "builds": {"least": "1"},
    }
