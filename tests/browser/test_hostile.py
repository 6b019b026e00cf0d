"""In a real browser, hostile text stays text: it runs no code, adds no link and widens no page."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import nh3
import pytest
from playwright.sync_api import Page

from bench.weights import RequestedPaths, weighed
from tests.browser.pages import NARROW, lent, one_of_each_kind, px_too_wide, wake_charts, watch
from tests.hostile_site import TRICKS, file_stem
from tests.nightly import few
from tests.sites import addresses, hostile_addresses

pytestmark = [pytest.mark.browser, pytest.mark.tour]
FORMULAS = "=+-@\t\r"
PLACES = ("devices", "models")
# The innermost elements that hold a text: what is in them, and whether it is inside a link.
HOLDERS = """(text) => [...document.querySelectorAll('article *')]
  .filter((each) => each.textContent.includes(text)
    && ![...each.children].some((child) => child.textContent.includes(text)))
  .filter((each) => !each.closest('svg, script, style'))
  .map((each) => each.innerHTML)"""
LINKS = """() => [...document.querySelectorAll('a, area')]
  .filter((each) => each.hasAttribute('href'))
  .map((each) => new URL(each.getAttribute('href'), document.baseURI).href)"""
FORCE = """() => { for (const each of document.querySelectorAll('article *'))
  for (const kind of ['mouseover', 'focus', 'error', 'click'])
    if (kind !== 'click' || !each.closest('a, button, summary, label, input, select, form'))
      each.dispatchEvent(new Event(kind)); }"""


@pytest.fixture
def page(tab: Page, base: str, complaints: list[str]) -> Iterator[Page]:
    """A page on a phone in the dark, watched for dialogs, errors and foreign requests."""
    with lent(tab, NARROW, "dark") as page:
        yield watch(page, base, complaints)


def of_tricks(site: Path) -> list[str]:
    """The page of each trick, and the pages of a device and a model that only tricks use."""
    own = hostile_addresses(site)
    places = [next(each for each in own if each.startswith(f"{kind}/")) for kind in PLACES]
    return [*(f"submissions/{file_stem(name)}/" for name in TRICKS), *places]


@pytest.mark.parametrize("kinds", few(["tricks", "every"], 1))
def test_no_page_runs_asks_spreads_or_weighs_too_much(
    page: Page, base: str, site: Path, complaints: list[str], kinds: str
) -> None:
    """Live charts on pages of tricks; `test_every_page.py` has each kind of page."""
    asked = RequestedPaths(site, base)
    page.on("request", asked.hear)
    tricks = of_tricks(site)
    others = one_of_each_kind(addresses(site)) if kinds == "every" else ()
    for address in (*others, *tricks):
        complaints += weighed(page, asked, address).excess
        page.evaluate(FORCE)
        if address in tricks:
            wake_charts(page)
        complaints += [f"{address} {word}" for word in page.evaluate("window.caught")]
        if excess := px_too_wide(page):
            complaints.append(f"{address} is {excess} px too wide")
        links = {urlsplit(link) for link in page.evaluate(LINKS)}
        complaints += [
            f"{address} links to {link.geturl()}"
            for link in links
            if "example.invalid" in link.netloc or link.scheme not in {"http", "https"}
        ]

    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize("name", few(TRICKS, 2))
def test_the_text_is_shown_as_it_was_written(page: Page, base: str, name: str) -> None:
    page.goto(f"{base}submissions/{file_stem(name)}/")
    held = page.evaluate(HOLDERS, TRICKS[name])

    # Target, note, processor, card, engine, system, arguments and origin, at the least six.
    assert len(held) >= 6
    for html in held:
        assert nh3.clean(html, tags=set()) == html


def test_no_cell_of_a_table_is_a_formula(site: Path) -> None:
    cells = [
        cell
        for path in sorted((site / "data").glob("*.csv"))
        for row in csv.reader(path.read_text("utf-8").splitlines())
        for cell in row
    ]
    numbers = [cell for cell in cells if cell.startswith(tuple(FORMULAS))]

    assert any(cell.startswith("'=cmd") for cell in cells)
    assert all(isinstance(json.loads(cell), int | float) for cell in numbers)
