"""Programs learn what is new, in standard formats and with the dates of the data."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from pipeline.site.charts import draw
from pipeline.site.pages.data import dataset
from pipeline.site.pages.feeds import badge, feeds
from pipeline.site.pages.model import Site
from tests.pipeline.tables import campaign, database, entry, rows

if TYPE_CHECKING:
    import duckdb

    from tests.pipeline.tables import Example


ATOM = "http://www.w3.org/2005/Atom"
SITE = Site(bundle="", address="https://example.org/")


def written(connection: duckdb.DuckDBPyConnection, site: Site = SITE) -> dict[str, bytes]:
    return {asset.path: asset.data for asset in feeds(connection, site)}


def build(number: str, day: str, low: float, high: float) -> Example:
    """One campaign over all tasks under engine version `number`."""
    middle = (low * high) ** 0.5
    made = campaign(middle, within=(low, high), task=None, day=day)
    engine = replace(made.submission.engine, version=number)
    return entry(replace(made.submission, engine=engine), made.summary)


def test_a_new_result_is_an_entry_with_an_absolute_link_and_its_own_date() -> None:
    files = written(database(campaign(1.5, within=(1.4, 1.6), task=None)))

    (item,) = ET.fromstring(files["feed.xml"]).findall(f"{{{ATOM}}}entry")  # noqa: S314 - our own
    words = {child.tag.rpartition("}")[2]: child for child in item}
    assert words["title"].text == "Sample-7B Q4_K_M on RTX 4060 8 GB, cuda"
    assert words["updated"].text == "2026-11-21T10:00:00Z"
    assert words["link"].attrib["href"].startswith("https://example.org/submissions/nvidia-")
    assert words["summary"].text == (
        "Draft model: at least 1.40× over all tasks, the only setting. Measured by ada (measured)."  # noqa: RUF001
    )
    (same,) = json.loads(files["feed.json"])["items"]
    assert (same["id"], same["title"]) == (words["id"].text, words["title"].text)


def test_without_results_the_feeds_are_valid_and_empty(empty: duckdb.DuckDBPyConnection) -> None:
    files = written(empty, Site(bundle=""))

    assert ET.fromstring(files["feed.xml"]).find(f"{{{ATOM}}}updated") is not None  # noqa: S314
    assert json.loads(files["feed.json"])["items"] == []
    assert json.loads(files["badges/overall.json"])["message"] == "not measured"


@pytest.mark.parametrize(
    ("after", "step"),
    [
        ((1.30, 1.50), "faster"),  # 1.396 / 1.095: above 5 %, intervals apart
        ((1.15, 1.70), None),  # as much faster, but the intervals share 1.15 to 1.20
        ((0.70, 0.80), "slower"),
    ],
)
def test_a_step_needs_intervals_that_are_apart(
    after: tuple[float, float], step: str | None
) -> None:
    connection = database(build("b1", "2026-11-01", 1.0, 1.2), build("b2", "2026-11-08", *after))

    assert rows(connection, "select engine_build, step from build_step order by build_order") == [
        ("llama.cpp b1", None),
        ("llama.cpp b2", step),
    ]
    entries = ET.fromstring(written(connection)["builds.xml"]).findall(f"{{{ATOM}}}entry")  # noqa: S314
    assert len(entries) == (1 if step else 0)


def test_builds_of_one_day_are_ordered_by_their_number_and_not_by_the_hour() -> None:
    newer = build("b9", "2026-11-01", 1.0, 1.2)
    later = replace(
        build("b10", "2026-11-01", 1.0, 1.2).submission, measured_from="2026-11-01T08:00:00Z"
    )
    connection = database(newer, entry(later, newer.summary))

    builds = rows(connection, "select engine_build from build_step order by build_order")
    layers = draw(connection, "builds", least="2").spec["layer"]
    axis = next(each["encoding"]["x"] for each in layers if "x" in each["encoding"])

    assert builds == [("llama.cpp b9",), ("llama.cpp b10",)]
    assert axis["sort"] == ["llama.cpp b9", "llama.cpp b10"]


def test_a_small_change_is_no_step_however_sure() -> None:
    connection = database(
        build("b1", "2026-11-01", 1.000, 1.002), build("b2", "2026-11-08", 1.040, 1.044)
    )

    assert rows(connection, "select distinct step from build_step") == [(None,)]


@pytest.mark.parametrize(
    ("at_least", "losing", "cells", "colour", "message"),
    [
        (1.12, 3, 8, "blue", "at least 1.12×, 3 of 8 lose"),  # noqa: RUF001 - as printed
        (None, 3, 8, "orange", "no clear gain, 3 of 8 lose"),
        (None, 0, 8, "lightgrey", "no clear gain, 0 of 8 lose"),
        (None, 0, 0, "lightgrey", "not measured"),
    ],
)
def test_a_badge_says_both_gains_and_losses(
    at_least: float | None, losing: int, cells: int, colour: str, message: str
) -> None:
    value = json.loads(badge("x", "Card", at_least, losing, cells).data)

    assert set(value) == {"schemaVersion", "label", "message", "color"}
    assert value["color"] == colour
    assert value["message"] == message


def test_the_data_set_names_its_days_and_none_without_data() -> None:
    named = dataset((), SITE, first="2026-11-01", last="2026-11-21")

    assert named["temporalCoverage"] == "2026-11-01/2026-11-21"
    assert named["url"] == "https://example.org/data/"
    assert "dateModified" not in dataset((), SITE, first=None, last=None)
