"""A number on a page is the number in the data files, rounded as it is printed."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from schemas.vocabulary import ALL_TASKS, OWN_TASKS, TASKS
from tests.pipeline.page_tables import PageTable, tables
from tests.sites import built_site

Row = Mapping[str, Any]
Tables = Mapping[tuple[str, str], PageTable]


NUMBER = re.compile(r"[<>]?[0-9][0-9,.]*")
# Heading to the columns of the data file, in the order in which a page prints them.
CELL = {
    "Speedup, 95 % [another machine]": ("speedup", "interval_low", "interval_high"),
    "Request with a 256-token answer": (
        "stated_request",
        "stated_request_low",
        "stated_request_high",
    ),
    "Plain tokens/s": ("baseline_tps",),
    "Plain \N{MULTIPLICATION SIGN} speedup": ("tps",),
    "Tokens per round": ("tokens_per_round",),
    "R": ("round_cost",),
    "Accepted": ("acceptance_rate",),
    "Rigs": ("rigs",),
}
VERDICT = {
    "Speedup per token [this machine]": ("speedup", "interval_low", "interval_high"),
    "Whole request [this machine]": (
        "whole_request",
        "whole_request_low",
        "whole_request_high",
    ),
    "With answers of 256 tokens": (
        "stated_request",
        "stated_request_low",
        "stated_request_high",
    ),
    "Tokens per round": ("tokens_per_round",),
    "R": ("round_cost",),
    "Accepted": ("acceptance_rate",),
}
LABELS = {"all": ALL_TASKS, "own": OWN_TASKS, **{name: task.label for name, task in TASKS.items()}}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_site(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="module")
def shown(site: Path) -> Tables:
    return tables(site)


def data(site: Path, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((site / "data" / f"{name}.json").read_bytes())
    return rows


def is_printed(printed: str, value: float) -> bool:
    """Whether a number on a page is a value as printed; `>10` is a bound."""
    number = printed.lstrip("<>").rstrip(".,").replace(",", "")
    if printed[0] in "<>":
        return value < float(number) if printed[0] == "<" else value > float(number)
    digits = len(number.partition(".")[2])
    return abs(float(number) - value) <= 0.5001 * 10**-digits


def says(row: Row, headings: Mapping[str, tuple[str, ...]], known: Row) -> bool:
    """Check whether a page's row has the numbers of a data file's row, and no others."""
    for heading, columns in headings.items():
        percent = 100 if "%" in row[heading] else 1
        values = [known[column] * percent for column in columns if known[column] is not None]
        printed = NUMBER.findall(row[heading])
        if len(printed) != len(values) or not all(map(is_printed, printed, values)):
            return False
    return True


def unknown(rows: Iterable[Row], headings: Mapping[str, Any], known: Iterable[Row]) -> list[Row]:
    """Rows of a page whose numbers match no row of the data file for the same task."""
    by_task: dict[str, list[Row]] = {}
    for each in known:
        by_task.setdefault(LABELS[each["task"]], []).append(each)
    return [
        row
        for row in rows
        if not any(says(row, headings, each) for each in by_task.get(row["Task"], ()))
    ]


@pytest.mark.parametrize(("kind", "folder"), [("device", "devices"), ("target", "models")])
def test_the_cells_on_a_page_are_those_of_the_data_files(
    site: Path, shown: Tables, kind: str, folder: str
) -> None:
    cells = data(site, "cells")
    names = {each[kind] for each in cells}

    for name in names:
        own = [each for each in cells if each[kind] == name]
        rows = shown[f"{folder}/{name}/", f"All cells of this {kind}"].rows
        assert len(rows) == min(len(own), 20)
        assert unknown(rows, CELL, own) == []
    assert len(names) > 1


def test_the_verdicts_on_a_page_are_those_of_the_data_files(site: Path, shown: Tables) -> None:
    estimates = data(site, "estimates")
    seen = 0

    for (page, name), table in shown.items():
        if name.startswith("Verdicts of arm "):
            arm = page.split("/")[1], name.removeprefix("Verdicts of arm ")
            own = [each for each in estimates if (each["submission"], each["arm"]) == arm]
            assert len(table.rows) == len(own)
            assert unknown(table.rows, VERDICT, own) == []
            seen += len(own)
    assert seen > 200


def test_the_page_of_the_data_counts_the_rows_of_its_files(site: Path, shown: Tables) -> None:
    rows = shown["data/", "Tables to download"].rows

    assert len(rows) > 10
    for row in rows:
        files = [site / "data" / f"{row['Table']}.{kind}" for kind in ("csv", "json", "parquet")]
        assert row["Rows"] == f"{pq.read_metadata(files[2]).num_rows:,}"
        sizes = {f"{kind.suffix[1:]} {kind.stat().st_size / 1024:,.1f} KiB" for kind in files}
        assert all(size in row["Files"] for size in sizes)
