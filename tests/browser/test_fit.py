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
    """A page that must have no complaints."""
    complaints: list[str] = []
    with lent(tab) as page:
        yield watch(page, base, complaints)
    assert complaints == []


def test_a_model_that_is_too_large_gets_options_that_fit_and_a_split(page: Page, base: str) -> None:
    page.goto(base + "will-it-fit/")
    page.locator("input[name=card]").fill("rtx 4060 8gb")
    page.locator("select[name=model]").select_option("qwen3-14b")

    result = page.locator(RESULT)
    expect(result).to_contain_text("✕ Does not fit")
    expect(result).to_contain_text(re.compile("certain to fit"))
    expect(result).to_contain_text(
        'python -m harness plan --target qwen3-14b:Q4_K_M --context 8192 --gpu "RTX 4060'
    )


def test_a_model_that_fits_shows_its_parts_and_every_other_quantisation_and_context(
    page: Page, base: str
) -> None:
    page.goto(base + "will-it-fit/?card=12+GB&model=qwen3-8b&draft=model")

    result = page.locator(RESULT)
    expect(result).to_contain_text("✓ Fits")
    # 36 layers, 8 heads of 128 for keys and for values, 2 bytes each, 8,192 tokens: 1,152 MiB.
    expect(result.get_by_role("meter")).to_have_accessible_name(
        re.compile("KV cache 1.1 GiB, draft")
    )
    asked = result.locator(".dm-fit--asked")
    expect(asked).to_have_count(1)
    expect(asked).to_contain_text("✓")
    expect(result.locator("tbody tr").first.locator("td").last).to_contain_text("✕")


def test_a_draft_that_the_model_lacks_is_left_out_with_a_note(page: Page, base: str) -> None:
    page.goto(base + "will-it-fit/?card=24+GB&model=qwen3-32b&draft=head")

    expect(page.locator(RESULT)).to_contain_text("has no prediction head of its own")


def test_several_cards_are_the_planners(page: Page, base: str) -> None:
    page.goto(base + "will-it-fit/?card=2x+3090&model=qwen3-32b")

    answer = page.locator(".dm-fit__answer")
    expect(answer).to_contain_text("divides a model among several cards")


def test_the_address_keeps_the_question_and_only_offered_values(page: Page, base: str) -> None:
    page.goto(base + "will-it-fit/?card=24+GB&model=qwen3-32b&kv=q8_0&draft=%3Cimg%3E")

    expect(page.locator(RESULT)).to_contain_text("Qwen3 32B")
    expect(page.locator("select[name=draft]")).to_have_value("none")
    page.locator("select[name=context]").select_option("32768")
    expect(page).to_have_url(re.compile(r"model=qwen3-32b.*context=32768"))


@pytest.mark.parametrize(
    ("card", "free"),
    # 16 GB less 5 % and 700 MiB are 14.5 GiB; of 12 GB that leaves 10.7.
    [
        ("arc+a770", "about 14.5 GiB free"),
        pytest.param("rtx+4070", "about 10.7 GiB free", marks=pytest.mark.nightly),
    ],
)
def test_a_card_without_a_size_has_its_usual_memory(
    page: Page, base: str, card: str, free: str
) -> None:
    page.goto(f"{base}will-it-fit/?card={card}&model=qwen3-8b")

    expect(page.locator(RESULT)).to_contain_text(free)


def test_a_phone_shows_it_without_scrolling_sideways(page: Page, base: str) -> None:
    page.set_viewport_size(NARROW)
    page.goto(base + "will-it-fit/?card=8+GB&model=qwen3.5-27b&draft=head")
    expect(page.locator(RESULT)).to_be_visible()

    assert px_too_wide(page) == 0
