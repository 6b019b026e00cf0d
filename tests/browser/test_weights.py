"""A browser loads files when needed; `test_every_page.py` and `test_hostile.py` weigh pages."""

import gzip
import io
import time
from pathlib import Path
from typing import BinaryIO

import pytest
from playwright.sync_api import Page

from bench.weights import MOST_INDEX_KB, MOST_SHIFT, RequestedPaths, Weight, index_kb
from pipeline.site.build import beginning
from tests.browser.conftest import Quiet, serve
from tests.browser.pages import lent

pytestmark = pytest.mark.browser


@pytest.fixture
def asked(page: Page, site: Path, base: str) -> RequestedPaths:
    """The requests of the page from now on."""
    asked = RequestedPaths(site, base)
    page.on("request", asked.hear)
    return asked


def test_a_page_that_is_too_heavy_is_named_with_its_figures() -> None:
    heavy = Weight(
        address="x/",
        width=390,
        before_kb=120.1,
        requests=24,
        after_kb=450,
        shift=0.2,
        row_nodes=8000,
    )

    assert heavy.excess == (
        "x/ at 390 px: 120.1 KB before interaction, budget 120",
        "x/ at 390 px: 0.2 layout shift, budget 0.01",
    )


def test_requested_files_are_weighed_once_and_compressed(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "index.html").write_text("word " * 1000)
    (tmp_path / "picture.png").write_bytes(b"x" * 500)
    asked = RequestedPaths(tmp_path, "http://here/")

    for url in ("a/", "a/?b=c#d", "picture.png", "gone.js"):
        asked.note(f"http://here/{url}")
    asked.note("data:,x")

    assert 500 < asked.sent < 600


class InPieces(Quiet):
    """Sends each page in pieces, as over a slow connection, and without compression."""

    def send_head(self) -> io.BytesIO | BinaryIO | None:
        del self.headers["Accept-Encoding"]
        return super().send_head()

    def copyfile(self, source: BinaryIO, outputfile: BinaryIO) -> None:
        while piece := source.read(4000):
            outputfile.write(piece)
            outputfile.flush()
            if self.path.endswith("/"):
                time.sleep(0.05)  # enough for the browser to draw what has arrived


@pytest.mark.parametrize("address", ["submissions/", "explore/"])
def test_no_table_moves_while_its_rows_arrive(tab: Page, site: Path, address: str) -> None:
    with lent(tab) as page, serve(site, InPieces) as slow:
        page.goto(slow + address, wait_until="load")
        page.evaluate("() => new Promise(requestAnimationFrame)")  # reports the last shift

        assert page.evaluate("window.shifts") <= MOST_SHIFT


def test_the_index_of_the_search_is_small_and_waits_for_the_search(
    page: Page, base: str, site: Path, asked: RequestedPaths
) -> None:
    page.goto(base + "how-it-works/", wait_until="networkidle")
    assert not [path for path in asked.paths if "search" in path]

    page.get_by_role("textbox", name="Search").fill("rtx 3090")
    page.locator(".md-search-result__link").first.wait_for()

    assert any(path.endswith("search_index.json") for path in asked.paths)
    assert index_kb(site) <= MOST_INDEX_KB


def test_a_first_answer_loads_at_most_40_kb_more_than_home(
    page: Page, base: str, site: Path, asked: RequestedPaths
) -> None:
    page.goto(base, wait_until="networkidle")
    before = asked.sent
    files = (site / "assets/answers").glob("*.json")
    size = {x.stem: len(gzip.compress(x.read_bytes())) for x in files if x.stem != "figures"}

    page.locator("#dm-machine-card").fill("RTX 5090")
    page.locator("#dm-machine-model").fill("Qwen3.8-27B")
    page.keyboard.press("Enter")
    page.locator('.dm-machine[data-state="answered"]').wait_for()

    assert size["qwen3-8-27b"] == max(size.values())
    assert asked.sent - before <= 40_000


def test_a_section_is_indexed_by_its_first_words() -> None:
    assert beginning("<p>One  two</p>\n<li>three</li>") == "One two three"
    assert beginning("word " * 100) == " ".join(["word"] * 40)
