"""The built site works in a real browser: quiet, self-contained, readable, accessible."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import (
    NARROW,
    one_of_each_kind,
    stir,
)
from tests.sites import addresses

pytestmark = pytest.mark.browser
# Content that a reader without scripts must see on a page: its heading, a text, an unfolded table,
# a picture. A form that needs a script is hidden.
UNREAD = """() => {
  const shown = (each) => each.checkVisibility({ visibilityProperty: true });
  const folded = (each) => each.closest('details:not([open]), form[hidden], section[hidden]');
  const article = document.querySelector('article');
  const missing = shown(article.querySelector('h1')) ? [] : ['no heading'];
  if (article.innerText.length < 200) missing.push('no text');
  for (const each of article.querySelectorAll('table, p, li, pre, figcaption'))
    if (!shown(each) && !folded(each)) missing.push(each.outerHTML.slice(0, 120));
  for (const each of article.querySelectorAll('figure[data-spec]'))
    if (![...each.querySelectorAll('img')].some(shown)) missing.push('no picture');
  for (const each of article.querySelectorAll('form:not([action])'))
    if (shown(each)) missing.push(`a form: ${each.className}`);
  return missing;
}"""


@pytest.fixture
def still(still_tab: Page) -> Page:
    """A page on a phone without JavaScript."""
    still_tab.set_viewport_size(NARROW)
    return still_tab


def test_the_first_paint_of_home_holds_the_rows(still: Page, base: str) -> None:
    still.set_viewport_size({"width": 1366, "height": 768})
    still.goto(base)

    # A device and model each, over all backends: of the corpus and hostile ones.
    assert still.locator("li.dm-strip:visible").count() >= 16
    assert still.locator("li.dm-strip").first.bounding_box()["y"] <= 360  # below what it is
    assert still.locator("li.dm-strip svg circle").count() > 10
    assert not still.locator(".dm-filter").is_visible()


def test_words_that_are_cut_are_whole_in_a_title(still: Page, base: str) -> None:
    for size in ({"width": 1366, "height": 768}, NARROW):
        still.set_viewport_size(size)
        still.goto(base)
        cut = still.locator(".dm-strip__words, .dm-strip__name").evaluate_all(
            """all => all.filter((each) => each.scrollWidth > each.clientWidth && !each.title)
              .map((each) => each.textContent)"""
        )

        assert cut == []


def test_a_row_leads_to_its_device_and_to_the_row_that_others_printed(
    still: Page, base: str
) -> None:
    still.goto(base)
    row = still.locator("li.dm-strip--published").first
    name = row.locator(".dm-strip__name a").first.inner_text()
    row.locator(".dm-strip__figure").click()

    assert still.locator("h1").inner_text() == name
    assert still.locator("tr:target").count() == 1


def test_a_page_of_each_kind_is_readable_without_javascript(
    still: Page, base: str, site: Path
) -> None:
    unread: list[str] = []
    for address in one_of_each_kind(addresses(site)):
        still.goto(base + address)
        unread += [f"{address} {what}" for what in still.evaluate(UNREAD)]

    assert unread == []


@pytest.mark.nightly
def test_a_chart_follows_the_colour_scheme(page: Page, base: str) -> None:
    page.goto(base + "what-moves-it/")
    stir(page)
    label = page.locator('figure[data-state="live"] .role-axis-label text').first
    label.wait_for()
    light = label.get_attribute("fill")
    page.locator('label[title="Switch to dark mode"]').click()
    expect(page.locator(".role-axis-label text").first).not_to_have_attribute("fill", light)

    assert page.locator("body").get_attribute("data-md-color-scheme") == "slate"


def test_a_chart_that_cannot_wake_points_to_its_table(page: Page, base: str) -> None:
    page.route("**/assets/charts/whole-map.json", lambda route: route.abort())
    page.goto(base + "what-moves-it/")
    stir(page)
    figure = page.locator("figure.dm-chart").first
    figure.locator(".dm-chart__error").wait_for()

    assert figure.locator("img:visible").count() == 1
    assert figure.locator("table").is_visible()


def test_a_table_is_ordered_by_its_headings_and_narrowed_by_its_filter(
    page: Page, base: str
) -> None:
    page.goto(base + "devices/rtx-4060-8-gb/")
    page.locator("details", has_text="Every cell").locator("summary").first.click()
    page.get_by_role("button", name="Rigs").click()
    page.get_by_placeholder("8 GB").fill("code")

    found = page.locator("#dm-cells tbody tr:visible")
    expect(found.first).to_contain_text("Code")
    assert 0 < found.count() < page.locator("#dm-cells tbody tr").count()
