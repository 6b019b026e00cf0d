"""The one drawing of the map: on the home page, on a device's page and in a README."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import duckdb
import pytest

from pipeline.site.pages.grid import caption, grid
from pipeline.site.pages.home import home, map_choices
from pipeline.site.pages.map import (
    MapFilter,
    by_device,
    by_task,
    colour_strength,
    losses,
    opening,
)
from pipeline.site.pages.model import Asset, Site
from pipeline.site.pages.places import device_pages
from pipeline.site.pictures import draw_pictures
from pipeline.site.rows import read
from tests.pipeline.tables import campaign, database, put, real_database, rows
from tests.samples import sample

SITE = Site(bundle="x.js")


@pytest.fixture(scope="module")
def two() -> duckdb.DuckDBPyConnection:
    """One card and model: a gain at depth 4 and a loss at depth 8."""
    return database(
        campaign(1.5, within=(1.4, 1.6), task=None, depth=4, verdict="helps"),
        campaign(0.7, within=(0.67, 0.73), task=None, depth=8, verdict="hurts"),
    )


def test_a_device_says_how_many_settings_lose(two: duckdb.DuckDBPyConnection) -> None:
    assert losses(by_task(read(two, "device_squares"))) == (
        "Each square shows its best setting, with an interval that allows for the choice;"
        " 1 of 2 measured settings clearly lost speed."
    )


def test_only_cells_without_a_figure_still_have_a_caption() -> None:
    connection = database(campaign(None, verdict="failed", task=None))

    assert losses(by_task(read(connection, "device_squares"))).endswith(
        "; 0 of 1 measured setting clearly lost speed."
    )


def test_a_measured_square_shows_nothing_of_another_tier() -> None:
    connection = database(campaign(1.5), campaign(3.0, tier="imported"))

    pieces = [part.data for part in home(connection, SITE) if isinstance(part, Asset)]

    assert len(pieces) == 6  # best, typical and worst of all methods, and of the only method
    assert all("<b>1.50×</b>".encode() in piece for piece in pieces)  # noqa: RUF001 - as printed
    assert not any("3.00×".encode() in piece for piece in pieces)  # noqa: RUF001 - as printed


def figures(connection: duckdb.DuckDBPyConnection, method: str = "all") -> dict[str, float | None]:
    """The figure of the only square over all tasks, as the best, typical and worst setting."""
    return {
        choice.shown: square.row.speedup
        for choice in map_choices(connection)
        if (choice.task, choice.method) == ("all", method)
        for band in grid(choice).bands
        for row in band.rows
        for _, squares in row.cells
        for square in squares
    }


def test_a_square_has_a_best_a_typical_and_a_worst_setting(
    two: duckdb.DuckDBPyConnection,
) -> None:
    three = database(
        *(campaign(each, task=None, depth=depth) for depth, each in ((2, 1.3), (4, 1.1), (8, 0.7)))
    )

    assert figures(three) == {"best": 1.3, "typical": 1.1, "worst": 0.7}
    assert figures(two) == {"best": 1.5, "typical": 0.7, "worst": 0.7}  # of two, the slower one


def test_a_setting_that_never_drafted_is_no_best_setting() -> None:
    connection = database(campaign(1.4, task=None, verdict="never-drafted"))

    assert figures(connection)["best"] is None
    assert caption(opening(map_choices(connection))) == (
        "All tasks: nothing has been measured yet."
    )


def test_a_caption_names_no_figure_without_a_clear_verdict() -> None:
    unclear = database(campaign(1.9, within=(0.8, 4.5), task=None, verdict="no-clear-difference"))

    assert caption(opening(map_choices(unclear))) == (
        "All tasks: no setting of 1 measured square is clearly faster, the choice among them"
        " allowed for. Of 1 setting behind it, 0 clearly lose."
    )


def test_only_sizes_with_a_figure_have_a_column(two: duckdb.DuckDBPyConnection) -> None:
    assert grid(opening(map_choices(two))).columns == ("3–8B",)  # noqa: RUF001 - as printed


def test_a_device_is_one_row_with_its_backends_side_by_side() -> None:
    connection = database(
        campaign(1.5, task=None, backend="cuda"), campaign(0.9, task=None, backend="vulkan")
    )

    (band,) = grid(opening(map_choices(connection))).bands

    ((row,),) = (band.rows,)
    assert row.detail == "cuda · vulkan"
    ((_, squares),) = row.cells
    assert [(each.row.backend, each.row.speedup) for each in squares] == [
        ("cuda", 1.5),
        ("vulkan", 0.9),
    ]


def test_a_square_keeps_task_size_and_method_on_its_way_to_the_cells(
    two: duckdb.DuckDBPyConnection,
) -> None:
    chosen = next(each for each in map_choices(two) if each.method == "draft-model")

    ((_, (square,)),) = grid(chosen).bands[0].rows[0].cells

    assert square.address == (
        "explore/?device=rtx-4060-8-gb&backend=cuda&size=3-8B&task=all&method=draft-model"
    )


def test_devices_stand_in_bands_of_memory_and_measured_ones_first() -> None:
    connection = database(
        campaign(1.1, gpu=None, backend="cpu"),
        campaign(1.2, gpu="A 1", vram_mib=8192),
        campaign(1.3, gpu="B 2", vram_mib=24576),
        campaign(1.3, gpu="A 2", vram_mib=24576, tier="imported"),
    )

    bands = grid(next(map_choices_of(connection, "code"))).bands

    assert [(band.label, [row.label for row in band.rows]) for band in bands] == [
        ("17 to 24 GB", ["B 2 24 GB", "A 2 24 GB"]),
        ("8 GB and less", ["A 1 8 GB"]),
        ("Processors", [bands[2].rows[0].label]),
    ]


def map_choices_of(connection: duckdb.DuckDBPyConnection, name: str) -> Iterator[MapFilter]:
    return (each for each in map_choices(connection) if each.task == name)


@pytest.mark.parametrize(
    ("small", "large", "opened"),
    [
        (30, 20, "8 GB and less"),  # has the most figures, and 40 rows have room
        (45, 20, "17 to 24 GB"),  # the only one that has
        (45, 41, "17 to 24 GB"),  # none has: the shorter
    ],
)
def test_bands_fold_where_there_are_many_devices(small: int, large: int, opened: str) -> None:
    connection = database(
        *(campaign(1.2, task=None, gpu=f"A {n}", vram_mib=8192) for n in range(small)),
        *(campaign(1.2, task=None, gpu=f"B {n}", vram_mib=24576) for n in range(large)),
    )

    bands = grid(opening(map_choices(connection))).bands

    assert [(band.label, len(band.rows)) for band in bands] == [
        ("17 to 24 GB", large),
        ("8 GB and less", small),
    ]
    assert [band.label for band in bands if band.open] == [opened]


@pytest.mark.parametrize(
    ("small", "large", "first"),
    [(10, 20, [6, 6]), (7, 20, [6, 7]), (20, 30, [12, 12])],  # one left over is no row less
)
def test_a_phone_begins_with_twelve_rows_of_the_open_bands(
    small: int, large: int, first: list[int]
) -> None:
    connection = database(
        *(campaign(1.2, task=None, gpu=f"A {n}", vram_mib=8192) for n in range(small)),
        *(campaign(1.2, task=None, gpu=f"B {n}", vram_mib=24576) for n in range(large)),
    )

    assert [band.first for band in grid(opening(map_choices(connection))).bands] == first


def test_a_square_of_a_device_leads_to_its_cells() -> None:
    connection = database(campaign(1.5, task="code"))
    (page,) = (p for p in device_pages(connection, SITE) if p.path == "devices/rtx-4060-8-gb.md")

    assert "explore/?device=rtx-4060-8-gb&amp;backend=cuda&amp;task=code&amp;size=3-8B" in page.text


def test_cards_come_by_memory_and_before_processors() -> None:
    connection = database(
        campaign(1.1, gpu=None, backend="cpu"),
        campaign(1.2, gpu="A 1", vram_mib=8192),
        campaign(1.3, gpu="B 2", vram_mib=24576),
    )

    lines = by_device(read(connection, "device_squares"))

    assert [line.label for line in lines][:2] == ["B 2", "A 1"]
    assert len(lines) == 3


@pytest.mark.parametrize(("speedup", "share"), [(1.0, 0.0), (2.5, 1.0), (0.4, 1.0), (9.0, 1.0)])
def test_colours_are_full_at_two_and_a_half_times_either_way(speedup: float, share: float) -> None:
    assert colour_strength(speedup) == pytest.approx(share)


def test_a_printed_bound_is_rounded_down() -> None:
    # ln(2.4 / 2.1) / 2 = 0.0668 with 0.1335 between contributors is 0.1493;
    # 2.2351 / exp(0.1493) = 1.925.
    connection = database(campaign(2.2351, within=(2.1, 2.4), task=None))

    assert "at least 1.92× on" in caption(opening(map_choices(connection)))  # noqa: RUF001 - as printed


def test_the_picture_of_a_readme_is_whole_by_itself(tmp_path: Path) -> None:
    put(tmp_path / "results", sample(blocks=1))

    written = draw_pictures(["map"], results=tmp_path / "results", output=tmp_path / "pictures")

    light, dark = (path.read_text("utf-8") for path in written)
    assert [path.name for path in written] == ["map-light.svg", "map-dark.svg"]
    for svg in (light, dark):
        tags = {node.tag.rpartition("}")[2] for node in ET.fromstring(svg).iter()}  # noqa: S314 - our own
        assert {"svg", "style", "rect", "text"} <= tags
        assert "a" not in tags
        assert "--dm-map-gain:" in svg
    assert light != dark


def test_a_ratio_of_unlike_runs_is_on_the_map_only_where_there_is_no_other() -> None:
    found = rows(
        real_database(),
        "select round(speedup, 2), differs from map_square where task = 'all' and shown = 'best'"
        " and choice = 'all' and device in ('2-x-rx-9070-16-gb', '3-x-rtx-3060-12-gb')"
        " order by device",
    )

    # 1.94, whose baseline is a single run, gives way to 1.84; the other card has no such pair.
    assert found == [(1.84, False), (1.42, True)]
