"""How many clicks does a visitor need? Three errands, from the home page to the answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser
READY = '#dm-explore[data-state="ready"]'


class Visitor:
    """Somebody who clicks links and chooses from lists, and is counted."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0

    def click(self, selector: str) -> None:
        self.page.locator(selector).first.click()
        self.clicks += 1


@pytest.fixture
def visitor(browser: Browser, base: str) -> Iterator[Visitor]:
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = context.new_page()
        page.goto(base)
        yield Visitor(page)


def test_two_backends_of_one_card(visitor: Visitor) -> None:
    visitor.click('.md-tabs a:text-is("Why")')
    visitor.click('.md-sidebar a:has-text("Backends")')
    row = visitor.page.locator('article tr:has(a:text-is("compare"))').first.text_content()
    assert "cuda" in row
    assert "vulkan" in row
    assert visitor.clicks == 2

    visitor.click('article a:text-is("compare")')
    visitor.page.wait_for_selector('#dm-compare[data-state="ready"]')
    assert visitor.page.locator(".dm-compare-table tbody tr").count() > 1


def test_the_raw_data_of_a_cell(visitor: Visitor) -> None:
    visitor.click('.md-tabs a:text-is("Explore")')
    visitor.page.wait_for_selector(READY)
    visitor.click('#dm-cells tbody a[href*="submissions/"]')
    visitor.page.wait_for_selector("#the-file")
    with visitor.page.expect_download() as download:
        visitor.click("article a[download]")

    assert json.loads(download.value.path().read_bytes())["trials"]
    assert visitor.clicks == 3


def test_a_filtered_view_to_share(visitor: Visitor, base: str) -> None:
    visitor.page.goto(base + "explore/")
    visitor.page.wait_for_selector(READY)
    visitor.page.get_by_label("Task", exact=True).select_option("code")
    visitor.clicks += 1
    visitor.click('[data-copy="link"]')
    expect(visitor.page.locator("[data-part=copied]")).not_to_be_empty()

    shared = visitor.page.evaluate("navigator.clipboard.readText()")
    assert shared == f"{base}explore/?task=code"
    assert visitor.clicks == 2
