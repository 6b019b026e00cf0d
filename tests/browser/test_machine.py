"""A visitor's machine gets an answer in two clicks: labelled, with its source and a command."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import orjson
import pytest
from playwright.sync_api import Page, ViewportSize, expect

from pipeline.site.pages import answer_data
from tests.browser.pages import LAPTOP, NARROW, WIDE, comes_to, lent, px_too_wide, stir, watch
from tests.pipeline.tables import real_database

pytestmark = pytest.mark.browser
CARD, MODEL = "#dm-machine-card", "#dm-machine-model"
ANSWER = ".dm-machine__answer .dm-advice"
TOP = f"document.querySelector({ANSWER!r}).getBoundingClientRect().top"


@pytest.fixture(scope="module")
def real() -> bytes:
    """The file of the real collection: the corpus of the tests has other cards."""
    document: dict[str, Any] = orjson.loads(answer_data.machine_file(real_database()).data)
    return orjson.dumps(document)


@pytest.fixture
def page(tab: Page, base: str, real: bytes) -> Iterator[Page]:
    """The home page, and nothing that the browser complains about."""
    complaints: list[str] = []
    with lent(tab) as page:
        watch(page, base, complaints)
        page.route(
            f"**/{answer_data.PATH}",
            lambda route: route.fulfill(body=real, content_type="application/json"),
        )
        page.goto(base)
        yield page
    assert complaints == []


def answered(page: Page, card: str, model: str = "") -> str:
    """The answer to what was typed, which takes one click and the Enter key."""
    page.locator(CARD).click()
    page.locator(CARD).fill(card)
    page.locator(MODEL).fill(model)
    page.keyboard.press("Enter")
    expect(page.locator('.dm-machine[data-state="answered"]')).to_be_visible()
    return page.locator(ANSWER).inner_text()


# What visitors ask, what the answer must say, and what it must not.
VISITORS = {
    ("RTX 3070 8 GB", "8B", "all"): (
        ("No figure yet", "an 8B model on RTX 3070", "✓ Fits:", "tokens/s without"),
        ("Run it", "Qwen2.5-Coder-14B"),
    ),
    ("M3 Max", "Qwen 7B", "all"): (
        ("0.76×", "Qwen2.5-Coder-7B-Instruct", "leave speculation off", "imported, 2026"),  # noqa: RUF001
        ("Run it", "llama-server", "predicted"),
    ),
    ("Strix Halo", "27B", "all"): (
        ("Radeon 8060S", "1 person · published", "rebuilt from what the source says"),
        ("No figure", "predicted"),
    ),
    ("RX 7600", "35B-A3B", "all"): (
        ("No figure yet", "35B-A3B on RX 7600"),
        ("Run it",),
    ),
    ("2 x 3090", "27B", "code"): (
        ("2 × RTX 3090 24 GB", "a 27B model", "layers lie on the card", "--tasks code"),  # noqa: RUF001
        ("predicted.",),
    ),
}


@pytest.mark.parametrize("size", [LAPTOP, NARROW], ids=["laptop", "phone"])
@pytest.mark.parametrize("asked", VISITORS)
def test_a_visitor_has_the_right_answer_above_the_fold(
    page: Page, base: str, asked: tuple[str, str, str], size: ViewportSize
) -> None:
    card, model, task = asked
    says, says_not = VISITORS[asked]
    page.set_viewport_size(size)
    page.goto(f"{base}?{urlencode({'card': card, 'model': model, 'for': task})}")
    expect(page.locator('.dm-machine[data-state="answered"]')).to_be_visible()

    answer = page.locator(ANSWER)
    text = answer.inner_text()
    for words in (card, model, *says, "python -m harness run --target "):
        assert words in text
    for words in says_not:
        assert words not in text
    expect(answer).to_be_focused()
    assert comes_to(page, f"{TOP} >= 0 && {TOP} < innerHeight / 4", expected=True)
    for part in (
        ".dm-advice__figure",
        ".dm-ranked--one",
        ".dm-ranked--one ~ div pre",
        ".dm-credit",
    ):
        for each in answer.locator(part).all()[:1]:
            box = each.bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= size["height"]
    assert page.evaluate("window.shifts") <= 0.01


def test_the_best_setting_of_a_card_is_a_line_for_its_server(page: Page) -> None:
    text = answered(page, "rtx5060ti 16gb", "14b")

    # The time ratio over the tasks of the imported file, and what its interval is about.
    assert re.search(r"1\.24× \[1\.\d\d, 1\.\d\d\]", text)  # noqa: RUF001 - as printed
    assert "The interval (95 %) is about this machine." in text
    assert "Prompt time was not recorded." in text
    assert "imported" in text
    assert "InventiveHQ and contributors, CC-BY-4.0" in text
    copy = page.locator(f"{ANSWER} button").first
    copy.click()
    expect(copy).to_have_text("Copied")
    line = page.evaluate("navigator.clipboard.readText()")
    start = "python -m harness run --target Qwen2.5-Coder-14B-Instruct-Q4_K_M.gguf --draft "
    assert line.startswith(start)


def test_the_question_is_kept_in_the_address_and_carried_along(page: Page, base: str) -> None:
    answered(page, "5060 Ti", "14b")
    page.locator("#dm-machine-for").select_option("math")
    expect(page).to_have_url(f"{base}?card=5060+Ti&model=14b&for=math")
    expect(page.locator(ANSWER)).to_contain_text("1.85")
    page.reload()
    expect(page.locator(ANSWER)).to_contain_text("1.85")
    expect(page.locator(CARD)).to_have_value("5060 Ti")

    onward = page.locator(f"{ANSWER} .dm-advice__more a").evaluate_all(
        "all => all.map((each) => each.href)"
    )
    assert f"{base}explore/?words=5060+Ti+14b&task=math" in onward
    assert any(address.startswith(f"{base}devices/rtx-5060-ti") for address in onward)


def test_a_model_that_was_named_leads_to_its_page(page: Page, base: str) -> None:
    answered(page, "3090", "Qwen3.8 27B")

    link = page.locator(f"{ANSWER} .dm-advice__more").get_by_text("All about Qwen3.8-27B")
    link.click()
    expect(page).to_have_url(f"{base}models/qwen3-8-27b/")
    expect(page.locator("h1")).to_have_text("Qwen3.8-27B")


def test_nonsense_and_hostile_text_end_in_a_hint_and_a_command(page: Page) -> None:
    text = answered(page, '<img src=x onerror="boom()">', "((")

    assert 'No card, computer or model called “<img src=x onerror="boom()">” is known here.' in text
    assert "No model called “((” has a figure here." in text
    assert "python -m harness run --target" in text


def test_nothing_is_loaded_before_a_visitor_asks(tab: Page, base: str) -> None:
    with lent(tab) as page:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(base, wait_until="networkidle")
        before = [url for url in asked if answer_data.PATH in url or "answer.js" in url]
        with page.expect_response(f"**/{answer_data.PATH}"):
            page.locator(CARD).click()

    assert before == []


def test_the_answer_fits_a_phone_and_a_wide_screen(tab: Page, base: str) -> None:
    for viewport in (NARROW, WIDE):
        with lent(tab, viewport) as page:
            page.goto(f"{base}?card=RTX+4060&model=7B")
            expect(page.locator(ANSWER)).to_be_visible()

            assert px_too_wide(page) == 0


def test_without_javascript_the_form_leads_to_the_list(still_tab: Page, base: str) -> None:
    still_tab.set_viewport_size(NARROW)
    still_tab.goto(base)
    still_tab.locator(CARD).fill("RTX 4060")
    still_tab.get_by_role("button", name="Does it help me?").click()

    expect(still_tab).to_have_url(f"{base}?card=RTX+4060&model=&for=all")
    expect(still_tab.locator("li.dm-strip").first).to_be_visible()


def test_explore_understands_memory_and_never_ends_in_nothing(page: Page, base: str) -> None:
    page.goto(f"{base}explore/?words=12gb")
    page.wait_for_selector('#dm-explore[data-state="ready"]')
    rows = page.locator("#dm-cells tbody tr")
    assert rows.count() > 0
    for row in rows.all():
        assert "12 GB" in row.locator("th").inner_text()

    page.locator("#dm-explore-words").fill("rtx5090 70b")
    expect(page.locator("#dm-cells .dm-advice")).to_contain_text("python -m harness run")
    expect(page.locator("#dm-cells .dm-advice")).to_contain_text("Fits in part")


def test_the_search_of_the_site_leads_on(page: Page, base: str) -> None:
    page.goto(f"{base}slower/")
    page.locator('[data-md-component="search-query"]').fill("m3max 64gb")
    page.locator(".md-search-result .dm-question-form a").click()
    expect(page.locator(ANSWER)).to_contain_text("M3 Max")


# Each group as the page has it and as the script draws it, without blanks between tags.
DRAWN = """async (root) => {
  const { load } = await import(`${root}assets/javascripts/answer.js`);
  const { draw } = await import(`${root}assets/javascripts/strips.js`);
  const list = document.querySelector('[data-part="strips"]');
  const data = await load(document.querySelector('.dm-machine').dataset);
  const drawn = document.createElement('div');
  drawn.append(...draw(data, { by: 'model', task: 'all', aside: null, device: '', model: '' }));
  return [list, drawn].map((each) => [...each.querySelectorAll('.dm-group')].map((group) => {
    for (const link of group.querySelectorAll('a')) link.setAttribute('href', link.href);
    return group.outerHTML.replace(/\\s*\\n\\s*/g, '').replaceAll(' class=""', '');
  }));
}"""


def test_the_script_draws_the_rows_as_the_page_has_them(tab: Page, base: str) -> None:
    with lent(tab) as page:
        page.goto(base)
        has, draws = page.evaluate(DRAWN, base)

    assert len(has) > 1
    assert draws == has


def test_a_choice_is_drawn_again_and_kept_in_the_address(tab: Page, base: str) -> None:
    with lent(tab) as page:
        page.goto(base)
        stir(page)
        page.locator('select[name="by"]').focus()
        page.locator('select[name="by"] option[value="backend"]').wait_for(state="attached")
        page.locator('select[name="by"]').select_option("backend")
        expect(page).to_have_url(f"{base}?by=backend")
        heading = page.locator(".dm-group h2", has_text="cuda")
        expect(heading).to_be_visible()
        page.reload()
        expect(heading).to_be_visible()
        page.locator('select[name="tier"]').select_option("published")
        expect(page.locator(".dm-ranked li[data-tier=measured]")).to_have_count(0)
        device = page.locator(".dm-ranked .dm-strip__name a").first
        expect(device).to_have_attribute("href", re.compile(r"devices/[^/]*/\?tier=published$"))
