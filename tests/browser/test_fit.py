"""*Will it fit?* answers for a card and a model."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import NARROW, lent, px_too_wide, watch

pytestmark = pytest.mark.browser
RESULT = ".dm-fit__result"


@pytest.fixture
def page(tab: Page, base: str) -> Iterator[Page]:
    """A page on which nothing may be complained about."""
    complaints: list[str] = []
    with lent(tab) as page:
        yield watch(page, base, complaints)
    assert complaints == []


def test_a_model_on_a_card_is_answered_with_bars_a_table_and_commands(
    page: Page, base: str
) -> None:
    page.goto(base + "will-it-fit/")
    page.locator("input[name=card]").fill("rtx 4060 8gb")
    page.locator("select[name=model]").select_option("qwen3-14b")

    result = page.locator(RESULT)
    expect(result).to_contain_text("24 of 41 layers lie on the card")
    expect(result.get_by_role("img", name="Main memory, 32 GB")).to_be_visible()
    expect(result.locator("tr", has_text="KV cache")).to_contain_text("736")
    expect(result).to_contain_text("llama-server -m qwen3-14b-Q4_K_M.gguf -c 8192")
    expect(result).to_contain_text("python -m harness plan --target qwen3-14b:Q4_K_M")
    expect(result).to_contain_text("272 GB/s")
    expect(result.locator("li", has_text="n-gram drafts")).to_contain_text("predicted")


def test_the_speed_on_a_memory_alone_says_which_bandwidth_it_assumes(page: Page, base: str) -> None:
    page.goto(base + "will-it-fit/?card=12+GB&model=qwen3-8b")

    speed = page.locator(".dm-fit__facts div", has_text="Plain speed, no draft")
    expect(speed).to_contain_text("(400 GB/s assumed)")


def test_the_address_keeps_the_question_and_nothing_that_is_not_offered(
    page: Page, base: str
) -> None:
    page.goto(base + "will-it-fit/?card=24+GB&model=qwen3-32b&kv=q8_0&draft=%3Cimg%3E")

    expect(page.locator(RESULT)).to_contain_text("Qwen3 32B")
    expect(page.locator("select[name=draft]")).to_have_value("none")
    page.locator("select[name=context]").select_option("32768")
    expect(page).to_have_url(re.compile(r"model=qwen3-32b.*context=32768"))


def test_a_card_that_is_sold_with_several_memories_has_the_usual_one(page: Page, base: str) -> None:
    page.goto(base + "will-it-fit/?card=arc+a770")

    expect(page.locator(RESULT)).to_contain_text("of 15 GiB")


def test_a_card_that_is_sold_with_one_memory_needs_none(page: Page, base: str) -> None:
    page.goto(base + "will-it-fit/?card=rtx+4070&model=qwen3-8b")

    expect(page.locator(RESULT)).to_contain_text("12 GB")


def test_a_phone_shows_it_without_scrolling_sideways(page: Page, base: str) -> None:
    page.set_viewport_size(NARROW)
    page.goto(base + "will-it-fit/?card=8+GB&model=qwen3.5-27b&draft=head")
    expect(page.locator(RESULT)).to_be_visible()

    assert px_too_wide(page) == 0
