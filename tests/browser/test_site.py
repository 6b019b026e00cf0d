"""Does the built site work in a real browser: quiet, self-contained, readable, accessible?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.pages import (
    NARROW,
    WIDE,
    one_of_each_kind,
    stir,
)
from tests.sites import addresses

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
# What a reader without scripts misses on a page: its heading, a text, a table outside of a fold, a
# picture. A form that only a script
# answers stays away.
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


def test_the_first_paint_of_home_holds_the_map(still: Page, base: str) -> None:
    still.set_viewport_size(WIDE)
    still.goto(base)

    # Six of the corpus, four hostile ones with a card; the other tiers come on top.
    measured = ":not(.dm-sq--imported, .dm-sq--published)"
    assert still.locator(f"table.dm-grid a.dm-sq{measured}").count() == 10
    assert still.locator("table.dm-grid:visible").count() > 0
    assert not still.locator("form.dm-switch").is_visible()


def test_a_page_of_each_kind_is_readable_without_javascript(
    still: Page, base: str, site: Path
) -> None:
    unread: list[str] = []
    for address in one_of_each_kind(addresses(site)):
        still.goto(base + address)
        unread += [f"{address} {what}" for what in still.evaluate(UNREAD)]

    assert unread == []


def test_a_phone_shows_the_first_devices_of_a_band_and_all_when_asked(
    still: Page, base: str
) -> None:
    still.goto(base)
    band = still.locator(".dm-band[open]:has(.dm-band__rest)").first
    rows, more = band.locator("tbody tr:visible"), band.get_by_role("checkbox")
    assert rows.count() < band.locator("tbody tr").count()

    more.check()
    assert rows.count() == band.locator("tbody tr").count()

    still.set_viewport_size(WIDE)
    assert more.is_hidden()


def test_a_filter_of_the_map_finds_what_a_phone_does_not_show(page: Page, base: str) -> None:
    page.set_viewport_size(NARROW)
    page.goto(base)
    last = page.locator(".dm-later th a").last
    assert last.is_hidden()

    page.get_by_role("searchbox", name="Devices").fill(last.text_content() or "")

    assert last.is_visible()
    assert page.locator(".dm-band__rest:visible").count() == 0


def test_the_switch_changes_the_map_and_the_address(page: Page, base: str) -> None:
    page.goto(base)
    page.get_by_role("radio", name="Code", exact=True).check()
    page.wait_for_selector('.dm-map-figure[data-shown="code--all--best"]')

    expect(page).to_have_url(f"{base}?task=code&method=all&shown=best&tiers=all")
    assert page.locator("figcaption").first.text_content().startswith("Code: ")


def test_an_address_with_a_choice_opens_with_it(page: Page, base: str) -> None:
    page.goto(f"{base}?task=math&method=prompt-lookup")
    page.wait_for_selector('.dm-map-figure[data-shown="math--prompt-lookup--best"]')

    assert page.locator('input[value="prompt-lookup"]').is_checked()
    assert " with Prompt lookup: " in page.locator("figcaption").first.text_content()


def test_an_address_with_a_made_up_choice_changes_nothing(page: Page, base: str) -> None:
    page.goto(f"{base}?task=../../x&method=%3Cb%3E", wait_until="networkidle")

    assert page.locator('input[name="task"][value="all"]').is_checked()
    assert page.locator(".dm-map-figure[data-shown]").count() == 0


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
    page.goto(base + "devices/")
    page.get_by_role("button", name="Memory").click()
    names = page.locator("#dm-devices tbody th").all_text_contents()
    page.get_by_placeholder("12 GB").fill("rtx 4060")

    # The largest that anyone has published a figure of; no result of the corpus has as much.
    assert names[0].startswith("RTX PRO 6000 Blackwell")
    found = page.locator("#dm-devices tbody tr:visible th")
    expect(found).to_have_count(2)
    kept = {name.strip() for name in found.all_text_contents()}
    assert kept == {"RTX 4060 8 GB", "RTX 4060 Laptop 8 GB"}
