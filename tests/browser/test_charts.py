"""Charts become interactive when scrolled into view, repeatedly, and leave nothing behind."""

from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.pages import WIDE, comes_to, stir
from tests.nightly import few

pytestmark = pytest.mark.browser
ALIVE = "figure[data-spec] .dm-chart__live svg"
TITLES = {"What moves it": "What moves it", "Engine builds": "newer build"}
WAYS = tuple(TITLES)
PAINT = """() => new Promise((done) => new PerformanceObserver((list) => {
  for (const each of list.getEntriesByName('first-contentful-paint')) done(each.startTime);
}).observe({ type: 'paint', buffered: true }))"""
# Counts the charts that were drawn and destroyed.
COUNT = """() => { window.charts = { drawn: 0, ended: 0 };
let library;
Object.defineProperty(window, 'vegaEmbed', { get: () => library, set: (embed) => {
  library = async (...about) => {
    const view = await embed(...about);
    window.charts.drawn += 1;
    const end = view.finalize;
    view.finalize = () => { window.charts.ended += 1; end.call(view); };
    return view;
  };
} }); }"""
# A page change as the theme's instant navigation makes it: the address, the text, the signal.
CHANGE = """async (address) => {
  const text = await (await fetch(address)).text();
  const next = new DOMParser().parseFromString(text, 'text/html');
  history.pushState(null, '', address);
  document.querySelector('article').replaceWith(next.querySelector('article'));
  window.document$.next(document);
}"""


def test_home_paints_its_rows_without_the_chart_library(page: Page, base: str) -> None:
    asked: list[str] = []
    page.route("**/vega.*.js", lambda route: asked.append(route.request.url))
    page.goto(base)
    row = page.locator("li.dm-strip").first

    assert page.evaluate(PAINT) > 0
    assert row.bounding_box()["y"] < WIDE["height"]  # type: ignore[index]
    assert asked == []


def test_the_picture_of_a_chart_is_painted_before_the_library_is_there(
    page: Page, base: str
) -> None:
    held: list[Route] = []
    page.route("**/vega.*.js", lambda route: held.append(route))  # noqa: PLW0108 - it is marked
    page.goto(base + "what-moves-it/")

    assert page.evaluate(PAINT) > 0
    expect(page.locator("#chart-whole-map img:visible")).to_have_count(1)
    expect(page.locator("figure[data-state]")).to_have_count(0)
    assert held == []
    stir(page)
    while not held:
        page.wait_for_timeout(10)
    held[0].continue_()
    expect(page.locator(ALIVE).first).to_be_visible()


@pytest.mark.nightly
def test_charts_come_alive_after_ten_page_changes_and_after_going_back(
    page: Page, base: str, complaints: list[str]
) -> None:
    page.goto(base + "what-moves-it/")
    for number in range(10):
        way = WAYS[(number + 1) % len(WAYS)]
        page.locator(".md-tabs").get_by_role("link", name=way, exact=True).click()
        expect(page.locator("h1")).to_contain_text(TITLES[way])
        stir(page)
        expect(page.locator(ALIVE).first).to_be_visible()
    page.go_back()
    expect(page.locator("h1")).to_contain_text(TITLES[WAYS[1]])
    stir(page)
    expect(page.locator(ALIVE).first).to_be_visible()

    assert complaints == []


@pytest.mark.nightly
def test_a_chart_removed_while_it_is_drawn_is_destroyed(
    page: Page, base: str, complaints: list[str]
) -> None:
    held: list[Route] = []
    page.route("**/whole-map.json", lambda route: held.append(route))  # noqa: PLW0108 - it is marked
    page.goto(base + "builds/")
    page.evaluate(COUNT)
    stir(page)
    expect(page.locator(ALIVE).first).to_be_visible()

    with page.expect_request("**/assets/charts/whole-map.json"):
        page.evaluate(CHANGE, f"{base}what-moves-it/")
    page.evaluate(CHANGE, f"{base}builds/")
    expect(page.locator(ALIVE).first).to_be_visible()
    assert comes_to(page, "window.charts.drawn - window.charts.ended", 1)
    with page.expect_response("**/assets/charts/whole-map.json"):
        held[0].continue_()
    page.locator('label[title="Switch to dark mode"]').click()
    expect(page.locator("body")).to_have_attribute("data-md-color-scheme", "slate")
    page.evaluate(CHANGE, f"{base}how-it-works/")

    expect(page.locator(ALIVE)).to_have_count(0)
    assert comes_to(page, "window.charts.drawn - window.charts.ended", 0)
    assert complaints == []


def taken_along(page: Page, bar: Locator) -> dict[str, bytes]:
    """The files that the buttons of a bar save."""
    saved = {}
    for kind in ("PNG", "SVG", "CSV"):
        with page.expect_download() as found:
            bar.get_by_text(kind, exact=True).click()
        saved[kind] = found.value.path().read_bytes()
    assert saved["PNG"].startswith(b"\x89PNG")
    return saved


@pytest.mark.parametrize("way", few(["what-moves-it/", "builds/"], 1))
def test_a_chart_can_be_downloaded_and_linked(page: Page, base: str, way: str) -> None:
    page.goto(base + way)
    stir(page)
    figure = page.locator("figure.dm-chart:has(.dm-chart__files[data-ready])").first
    figure.scroll_into_view_if_needed()
    saved = taken_along(page, figure.locator(".dm-chart__files"))

    assert b"<title>" in saved["SVG"]
    assert ET.fromstring(saved["SVG"]).tag.endswith("svg")  # noqa: S314 - our own picture
    lines = saved["CSV"].decode().splitlines()
    assert len(lines) > 1
    assert lines[0].count(",") >= 2
    figure.get_by_role("link", name="Link to").click()
    assert page.url == f"{base}{way}#{figure.get_attribute('id')}"
