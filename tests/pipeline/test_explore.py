"""The view, the columnar file and the closest pairs of Explore agree with SQL."""

import json
import math
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from polars import col

from pipeline.site.pages.columnar import Facet, Measure, encode, scaled
from pipeline.site.pages.explore import (
    FACETS,
    FILTERS,
    MEASURES,
    MORE,
    cells_file,
    directions,
    explore,
    with_vendors,
)
from pipeline.site.pages.model import Site
from pipeline.site.rows import frame
from schemas.vocabulary import say
from tests.pipeline.tables import campaign, database, one, rows

FRUIT = Facet(name="fruit", key=col("fruit"), label=col("fruit").str.to_uppercase())
WEIGHT = Measure(name="weight", value=col("weight"), digits=1)


def listed(connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    return with_vendors(frame(connection, "explore_cells"))


def test_each_word_is_stored_once_and_figures_are_whole_numbers() -> None:
    fruits = pl.DataFrame({"fruit": ["pear", "apple", "pear"], "weight": [1.26, None, 0.5]})

    found = json.loads(encode(fruits, (FRUIT,), (WEIGHT,)))

    assert found == {
        "format": "draftmap-explore",
        "version": 1,
        "rows": 3,
        "facets": {
            "fruit": {"keys": ["apple", "pear"], "labels": ["APPLE", "PEAR"], "index": [1, 0, 1]}
        },
        "figures": {"weight": {"digits": 1, "spare": 0, "values": [13, None, 5]}},
    }


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (1.234, 1234),
        (1.0449, 1044),  # to three digits 1.045, which would be printed as 1.05
        (1.0451, 1045),
        (0.996, 996),
        (0.0, 0),
    ],
)
def test_a_spare_digit_never_changes_what_is_printed(value: float, kept: int) -> None:
    assert scaled(np.array([value]), digits=2, spare=1) == [kept]


def test_the_file_agrees_with_sql_on_every_cell(full: duckdb.DuckDBPyConnection) -> None:
    file = json.loads(cells_file(listed(full)).data)
    facets, figures = file["facets"], file["figures"]

    shown = [
        (
            *(facets[name]["keys"][facets[name]["index"][row]] for name in ("device", "task")),
            *(_printed(figures[name], row) for name in ("speedup", "low", "cost", "whole")),
            *(_rate(figures[name], row) for name in ("baseline", "rate")),
        )
        for row in range(file["rows"])
        if facets["tier"]["keys"][facets["tier"]["index"][row]] != "published"
    ]

    assert shown == [
        (device, task, *map(_text, figures), say.rate(baseline), say.rate(tps))
        for device, task, *figures, baseline, tps in rows(
            full,
            "select device, task, speedup, interval_low, round_cost, stated_request,"
            " baseline_tps, tps from explore order by task = 'all',"
            " coalesce(interval_low, -1) desc, coalesce(speedup, -1) desc, cell",
        )
    ]
    assert len(shown) == one(full, "select count(*) from cell")[0]


def test_a_published_figure_is_a_row_with_its_address_and_no_interval(
    full: duckdb.DuckDBPyConnection,
) -> None:
    file = json.loads(cells_file(listed(full)).data)
    facets, figures = file["facets"], file["figures"]
    word = {
        name: [each["keys"][number] for number in each["index"]] for name, each in facets.items()
    }
    published = [row for row, tier in enumerate(word["tier"]) if tier == "published"]

    assert len(published) == one(full, "select count(*) from published_rate")[0] > 0
    for row in published:
        assert figures["speedup"]["values"][row] is not None
        assert figures["low"]["values"][row] is None
        assert (word["verdict"][row], word["command"][row]) == ("no-interval", "")
        assert word["evidence"][row].startswith(("https://", "data/#"))
        assert word["task"][row] != "all"


def test_figures_are_counted_by_the_direction_that_the_map_colours() -> None:
    # 1 / 1.05 is 0.952.
    assert directions([0.95, 0.96, 1.0, 1.05, 1.06, 2.0, None]) == {
        "hurts": 1, "even": 3, "helps": 2
    }  # fmt: skip


def test_every_filter_of_the_page_is_a_facet_of_the_file() -> None:
    names = {facet.name for facet in FACETS}

    assert {*FILTERS, *MORE} <= names
    assert len(MEASURES) == len({measure.name for measure in MEASURES})


def test_a_cell_shows_its_newest_submission_and_one_setup_over_tasks() -> None:
    connection = database(
        campaign(1.2, task="code", day="2026-11-01", contributor="ada"),
        campaign(1.4, task="code", day="2026-11-20", contributor="bob"),
        campaign(1.1, task="math", day="2026-11-02", contributor="eve"),
    )

    found = rows(
        connection, "select task, submissions, submission, setup from explore order by task"
    )
    setups = {setup for *_, setup in found}

    assert [(task, count) for task, count, *_ in found] == [("code", 2), ("math", 1)]
    assert "--20261120-" in found[0][2]
    assert len(setups) == 1


@pytest.mark.parametrize(
    ("machine", "vendor"),
    [
        ({"gpu": "AMD Radeon RX 7900 XTX"}, "nvidia"),  # what the driver says counts
        ({"gpu": None, "backend": "cpu"}, "amd"),  # the processor is a Ryzen
    ],
)
def test_the_vendor_is_that_of_the_device(machine: dict[str, Any], vendor: str) -> None:
    assert one(database(campaign(1.0, **machine)), "select vendor from explore") == (vendor,)


def test_without_results_the_page_invites_and_no_file_is_written(
    empty: duckdb.DuckDBPyConnection,
) -> None:
    written = list(explore(empty, Site(bundle="x.js")))

    assert [part.path for part in written] == ["explore.md"]
    assert all("Contribute the first result" in part.text for part in written)  # type: ignore[union-attr]


def _printed(figure: dict[str, Any], row: int) -> str | None:
    """The printed form on the page: rounded half up, like JavaScript's `Math.round`."""
    value, digits = figure["values"][row], figure["digits"]
    if value is None:
        return None
    return f"{math.floor(value / 10 ** figure['spare'] + 0.5) / 10**digits:.{digits}f}"


def _rate(figure: dict[str, Any], row: int) -> str:
    """A rate as the page prints it."""
    value = figure["values"][row]
    return say.rate(None if value is None else value / 10 ** figure["digits"])


def _text(value: float | None, digits: int = 2) -> str | None:
    return None if value is None else f"{value:.{digits}f}"
