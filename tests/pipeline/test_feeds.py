"""Programs learn what is new, in standard formats and with the dates of the data."""

from dataclasses import replace
from statistics import fmean
from xml.etree import ElementTree as ET

import duckdb
import pytest

from estimates.model import PromptEstimate
from pipeline.site.charts import draw
from pipeline.site.pages.feeds import feeds
from pipeline.site.pages.model import Site
from tests.pipeline.tables import ARM, Example, campaign, database, entry, rows

ATOM = "http://www.w3.org/2005/Atom"
SITE = Site(bundle="", address="https://example.org/")


def written(connection: duckdb.DuckDBPyConnection, site: Site = SITE) -> dict[str, bytes]:
    return {asset.path: asset.data for asset in feeds(connection, site)}


def build(number: str, day: str, *own_ms: float) -> Example:
    """One campaign under engine version `number`; without speculation a token takes 10 ms."""
    made = campaign(10 / fmean(own_ms), task=None, day=day)
    engine = replace(made.submission.engine, version=number)
    prompts = tuple(
        PromptEstimate(
            arm=ARM,
            prompt=f"code-{place}",
            task="code",
            blocks=2,
            speedup=10 / own,
            baseline_tps=100.0,
            tps=1000 / own,
            whole_request=None,
            baseline_reading_ms=None,
            reading_ms=None,
            tokens_per_round=None,
            round_cost=None,
            acceptance_rate=None,
            exactness="identical",
        )
        for place, own in enumerate(own_ms)
    )
    return entry(replace(made.submission, engine=engine), replace(made.summary, prompts=prompts))


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
    assert words["id"].text.startswith("urn:uuid:")


def test_without_results_the_feeds_are_valid_and_empty(empty: duckdb.DuckDBPyConnection) -> None:
    files = written(empty, Site(bundle=""))

    assert ET.fromstring(files["feed.xml"]).find(f"{{{ATOM}}}updated") is not None  # noqa: S314
    assert ET.fromstring(files["feed.xml"]).findall(f"{{{ATOM}}}entry") == []  # noqa: S314


@pytest.mark.parametrize(
    ("own_ms", "change", "step"),
    [
        # All four prompts moved alike: 10 / 8.
        ((8, 8, 8, 8), 1.25, "faster"),
        ((12.5, 12.5, 12.5, 12.5), 0.8, "slower"),
        ((9.7, 9.7, 9.7, 9.7), 1.031, None),  # as sure, but below 5 %
        # As far on average, but two prompts moved and two did not: d = 0.25 either way, its
        # standard error 0.25 / sqrt(3) = 0.144, and Student's t with 3 degrees of freedom 3.18.
        ((6, 10, 6, 10), 1.25, None),
    ],
)
def test_a_change_between_builds_is_computed_on_the_same_prompts(
    own_ms: tuple[float, ...], change: float, step: str | None
) -> None:
    connection = database(
        build("b1", "2026-11-01", 10, 10, 10, 10), build("b2", "2026-11-08", *own_ms)
    )

    listed = rows(
        connection,
        "select engine_build, compared_with, round(speedup_change, 3), step from build_step"
        " order by build_order",
    )

    assert listed == [
        ("llama.cpp b1", None, None, None),
        ("llama.cpp b2", "llama.cpp b1", change, step),
    ]
    entries = ET.fromstring(written(connection)["builds.xml"]).findall(f"{{{ATOM}}}entry")  # noqa: S314
    assert len(entries) == (1 if step else 0)


def test_small_losses_that_add_up_are_compared_with_the_best_build() -> None:
    # Each is 4 % slower than the one before, which is not a step; together 0.96 ** 2 = 0.9216.
    connection = database(
        build("b1", "2026-11-01", 11, 11),
        build("b2", "2026-11-02", 10, 10),
        build("b3", "2026-11-03", 10 / 0.96, 10 / 0.96),
        build("b4", "2026-11-04", 10 / 0.96**2, 10 / 0.96**2),
    )

    found = rows(
        connection,
        "select compared_with, round(speedup_change, 4), step from build_step order by build_order",
    )

    assert found[2:] == [
        ("llama.cpp b2", 0.96, None),
        ("llama.cpp b2", 0.9216, "slower"),
    ]


def test_builds_of_one_day_are_ordered_by_their_number_and_not_by_the_hour() -> None:
    newer = build("b9", "2026-11-01", 9, 9)
    later = replace(
        build("b10", "2026-11-01", 9, 9).submission, measured_from="2026-11-01T08:00:00Z"
    )
    connection = database(newer, entry(later, newer.summary))

    builds = rows(connection, "select engine_build from build_step order by build_order")
    layers = draw(connection, "builds", least="2").spec["layer"]
    axis = next(each["encoding"]["x"] for each in layers if "x" in each["encoding"])

    assert builds == [("llama.cpp b9",), ("llama.cpp b10",)]
    assert axis["sort"] == ["llama.cpp b9", "llama.cpp b10"]
