"""What a browser loads for each kind of page of the real site, before and after scrolling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pipeline.site.build import beginning, build
from tests.bench.weights import MOST_INDEX_KB, RESULTS, Weight, counting_server, index_kb, weigh
from tests.browser.pages import NARROW, WIDE, wake_charts

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the results in this repository."""
    return build(results=RESULTS, output=tmp_path_factory.mktemp("real") / "site")


def test_every_kind_of_page_stays_within_its_budgets(browser: Browser, real: Path) -> None:
    weights = tuple(weigh(browser, real, (WIDE, NARROW)))

    assert {"", "explore/", "predictions/"} < {weight.address for weight in weights}
    assert [words for weight in weights for words in weight.excess] == []


def test_a_page_that_is_too_heavy_is_named_with_its_figures() -> None:
    heavy = Weight(
        address="x/", width=390, before_kb=120.1, after_kb=450, shift=0.2, map_nodes=8000
    )

    assert heavy.excess == (
        "x/ at 390 px: 120.1 KB before interaction, budget 120",
        "x/ at 390 px: 0.2 layout shift, budget 0.1",
    )


def test_the_index_of_the_search_is_small_and_waits_for_the_search(
    browser: Browser, real: Path
) -> None:
    with counting_server(real) as (base, count), browser.new_context() as context:
        page = context.new_page()
        page.goto(base + "faq/", wait_until="networkidle")
        assert not [path for path in count.paths if "search" in path]

        page.get_by_role("textbox", name="Search").fill("rtx 3090")
        page.locator(".md-search-result__link").first.wait_for()

    assert sum(path.endswith("search_index.json") for path in count.paths) == 1
    assert index_kb(real) <= MOST_INDEX_KB


def test_a_chart_sleeps_until_the_visitor_does_something(browser: Browser, real: Path) -> None:
    with counting_server(real) as (base, count), browser.new_context() as context:
        page = context.new_page()
        page.goto(base + "tasks/", wait_until="networkidle")
        assert not [path for path in count.paths if "/vega." in path]

        wake_charts(page)

    assert sum("/vega." in path for path in count.paths) == 1


def test_a_section_is_indexed_by_its_first_words() -> None:
    assert beginning("<p>One  two</p>\n<li>three</li>") == "One two three"
    assert beginning("word " * 100) == " ".join(["word"] * 40)
