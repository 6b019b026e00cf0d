"""The one drawing of the map: on the home page, on a device's page and in a README."""

from pathlib import Path
from xml.etree import ElementTree as ET

import duckdb
import pytest

from pipeline.site.pages.home import caption, drawings, home, map_choices
from pipeline.site.pages.map import LOW, best_case, by_device, by_task, draw, opening, tint
from pipeline.site.pages.model import Asset, Site
from pipeline.site.pages.overviews import device_pages
from pipeline.site.pictures import draw_pictures
from pipeline.site.rows import read
from tests.pipeline.tables import campaign, database, put
from tests.samples import sample

SITE = Site(bundle="x.js")


@pytest.fixture(scope="module")
def two() -> duckdb.DuckDBPyConnection:
    """One card and model: a gain at depth 4 and a loss at depth 8."""
    return database(
        campaign(1.5, within=(1.4, 1.6), task=None, depth=4),
        campaign(0.8, within=(0.7, 0.9), task=None, depth=8),
    )


def test_a_device_says_the_best_case_and_the_losses_in_one_sentence(
    two: duckdb.DuckDBPyConnection,
) -> None:
    assert best_case(by_task(read(two, "map_cell"))) == (
        "The best case is 1.50× [1.29, 1.74] on All tasks with a target of 3–8B"  # noqa: RUF001 - as printed
        " (Draft model); 1 of 2 measured settings clearly lost speed."
    )


def test_only_cells_without_a_figure_still_have_a_caption() -> None:
    connection = database(campaign(None, verdict="failed", task=None))

    assert best_case(by_task(read(connection, "map_cell"))) == (
        "No figure over these tasks yet; 0 of 1 measured setting clearly lost speed."
    )


def test_the_map_of_the_home_page_shows_one_tier() -> None:
    connection = database(campaign(1.5), campaign(3.0, tier="imported"))

    pieces = [part.data for part in home(connection, SITE) if isinstance(part, Asset)]

    assert len(pieces) == 2  # the best of all methods, and the only method
    assert all("1.50×</text>".encode() in piece for piece in pieces)  # noqa: RUF001 - as printed
    assert not any("3.00×".encode() in piece for piece in pieces)  # noqa: RUF001 - as printed


def test_every_size_class_has_a_column_and_a_square_its_place(
    two: duckdb.DuckDBPyConnection,
) -> None:
    wide, narrow = drawings(opening(map_choices(two)))

    assert [size for _, size in wide.columns] == ["<1B", "1–3B", "3–8B", "8–16B", "16–40B", ">40B"]  # noqa: RUF001 - as printed
    ((line,), (_,)) = (wide.lines, narrow.lines)
    assert [tile.sign for tile in line.tiles] == ["none", "none", "gain", "none", "none", "none"]


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

    lines = by_device(read(connection, "map_cell"))

    assert [line.label for line in lines][:2] == ["B 2", "A 1"]
    assert len(lines) == 3


@pytest.mark.parametrize(("speedup", "share"), [(1.0, 0.0), (2.5, 1.0), (0.4, 1.0), (9.0, 1.0)])
def test_colours_are_full_at_two_and_a_half_times_either_way(speedup: float, share: float) -> None:
    assert tint(speedup) == pytest.approx(share)


def test_a_figure_is_printed_and_not_rounded_twice() -> None:
    # 2.2351 with four digits is 2.235, which a computer keeps as a little less: 2.23.
    connection = database(campaign(2.2351, task=None))

    assert "is 2.24× on" in caption(opening(map_choices(connection)))  # noqa: RUF001 - as printed


def test_without_lines_a_map_is_only_its_head() -> None:
    assert draw((), LOW, "Map").height == LOW.head_height


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
