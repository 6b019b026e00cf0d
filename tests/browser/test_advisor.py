"""Does the page's arithmetic give the hand-computed answers, and say so where there is none?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import orjson
import pytest
from playwright.sync_api import expect

from pipeline.site.pages.knowledge import knowledge
from tests.browser.pages import NARROW, lent
from tests.pipeline.tables import campaign, database

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

    from pipeline.site.advice import Knowledge


pytestmark = pytest.mark.browser
ASKED = "advisor/?device=memory%3A12&backend=cuda&model=2&task="


@pytest.fixture(scope="module")
def known() -> Knowledge:
    """Ada and Eve on cards with 8 GB, Bob on one with 12: see `tests/pipeline/test_advice.py`."""
    cards = (
        ("ada", "A 1", 8192, "code", 3.2, 1.6),
        ("bob", "B 2", 12288, "code", 3.6, 2.0),
        ("eve", "C 3", 8192, "chat", 2.4, 1.8),
    )
    return knowledge(
        database(
            *(
                campaign(
                    tokens / cost,
                    task=task,  # type: ignore[arg-type]
                    tokens_per_round=tokens,
                    round_cost=cost,
                    contributor=contributor,
                    gpu=gpu,
                    vram_mib=memory,
                )
                for contributor, gpu, memory, task, tokens, cost in cards
            )
        )
    )


@pytest.fixture
def page(tab: Page, known: Knowledge) -> Iterator[Page]:
    """A page whose advisor knows the three campaigns above."""
    with lent(tab, NARROW) as page:
        body = orjson.dumps(known).decode()
        page.route(
            "**/assets/advisor/*.json",
            lambda route: route.fulfill(body=body, content_type="application/json"),
        )
        yield page


def test_the_advisor_gives_the_answer_that_was_worked_out_by_hand(page: Page, base: str) -> None:
    # R from Bob's 12 GB: 2.0. Tokens on code: sqrt(3.2 * 3.6) = 3.3941. Speedup 1.69706.
    # Variances: 8 GB cards differ by ln(1.8 / 1.6) = 0.117783, squared over 2: 0.0069364, twice
    # that for one vote; tokens differ by as much, times 1.5. t(1) = 12.7062 times sqrt(0.0242775)
    # is 1.97979, so from 0.2343 to 12.2895, which is said as more than ten.
    page.goto(f"{base}{ASKED}code")
    page.wait_for_selector('.dm-advisor[data-state="ready"]')

    figure = page.locator(".dm-advice__figure").text_content()
    assert figure is not None
    assert "1.70× [0.23, >10]" in figure  # noqa: RUF001 - the multiplication sign is meant
    assert "3.39 ÷ 2.00 = 1.70×" in page.locator(".dm-advice").inner_text()  # noqa: RUF001


def test_where_nothing_is_near_it_says_so_and_shows_what_is_known(page: Page, base: str) -> None:
    page.goto(f"{base}{ASKED}math")
    page.wait_for_selector('.dm-advisor[data-state="ready"]')

    expect(page.locator(".dm-advice__none")).to_contain_text("No prediction.")
    expect(page.locator(".dm-advice")).to_contain_text("python -m harness run --target ")
    page.get_by_label("Task").select_option("code")
    assert page.locator(".dm-advice__figure").is_visible()
    expect(page).to_have_url(re.compile("task=code"))


def test_a_device_that_the_advisor_does_not_know_is_named_and_not_replaced(
    page: Page, base: str
) -> None:
    page.goto(f"{base}advisor/?device=device%3Aradeon-9999x&backend=cuda&model=2&task=code")
    page.wait_for_selector('.dm-advisor[data-state="ready"]')

    expect(page.locator(".dm-advice__none")).to_contain_text("No prediction.")
    expect(page.locator('[data-part="answer"]')).to_contain_text("radeon 9999x")
    assert page.get_by_label("Device").input_value() == ""


def test_sliders_change_the_drawing_and_name_what_cannot_win(page: Page, base: str) -> None:
    page.goto(base + "how-it-works/")
    caption = page.locator(".dm-whatif-figure figcaption")
    assert "yields 2.77 tokens and costs 1.72: 1.61×" in caption.inner_text()  # noqa: RUF001

    page.get_by_label("Drafting a token costs").fill("0.5")
    page.get_by_label("Verifying one token more costs").fill("0.6")

    assert "no acceptance can win" in caption.inner_text()
    assert page.locator(".dm-whatif__hopeless").get_attribute("width") == "600"
