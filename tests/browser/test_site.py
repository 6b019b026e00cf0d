"""Does the built site work in a real browser: quiet, self-contained, readable, accessible?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.sites import HOSTILE_NOTE, addresses, submission_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, Page

    Scheme = Literal["light", "dark"]

pytestmark = pytest.mark.browser
WIDE = {"width": 1280, "height": 900}
NARROW = {"width": 390, "height": 844}
HOSTILE = f"submissions/{submission_name(3)}/"
# Every kind of page once.
KINDS = (
    "",
    "tasks/",
    "break-even/",
    "methods/",
    "backends/",
    "verification/",
    "proofs/",
    "devices/",
    "devices/rtx-4060-8-gb/",
    "models/sample-7b/",
    f"submissions/{submission_name(0)}/",
    "published/",
    "data/",
    "contribute/",
    "format/",
    "faq/",
)
# Pages that between them show every colour, and what is asked of them in dark mode.
COLOURFUL = ("", "tasks/", f"submissions/{submission_name(0)}/", "contribute/")
INSPECTED = (*COLOURFUL, "devices/rtx-4060-8-gb/", "published/", "faq/", "methods/", "backends/")
CONTRAST = {"runOnly": ["color-contrast"]}


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with browser.new_context(viewport=WIDE, color_scheme="light") as context:
        yield context.new_page()


@pytest.mark.parametrize(("first", "scheme"), [(WIDE, "light"), (NARROW, "dark")])
def test_no_page_complains_or_asks_another_host(
    browser: Browser, base: str, site: Path, first: dict[str, int], scheme: Scheme
) -> None:
    second = NARROW if first is WIDE else WIDE
    complaints: list[str] = []
    with browser.new_context(viewport=first, color_scheme=scheme) as context:
        page = watched(context, base, complaints)
        for address in one_of_each_kind(addresses(site)):
            page.goto(base + address, wait_until="load")
            for size in (first, second):
                page.set_viewport_size(size)
                page.emulate_media(color_scheme=scheme)
                if excess := px_too_wide(page):
                    complaints.append(f"{address} is {excess} px too wide at {size['width']} px")
            scroll_through(page)

    assert not complaints, "\n".join(complaints)


def test_the_first_paint_of_home_holds_the_map_as_svg(browser: Browser, base: str) -> None:
    with browser.new_context(java_script_enabled=False, viewport=WIDE) as context:
        page = context.new_page()
        page.goto(base)

        # Four of the corpus, four hostile ones with a card.
        assert page.locator("svg.dm-map--wide a.dm-map__square").count() == 8
        assert page.locator("svg.dm-map--wide").is_visible()
        assert not page.locator("form.dm-switch").is_visible()


def test_pages_are_readable_without_javascript(browser: Browser, base: str) -> None:
    with browser.new_context(java_script_enabled=False, viewport=NARROW) as context:
        page = context.new_page()
        for address in KINDS:
            page.goto(base + address)

            assert page.locator("h1").is_visible()
        page.goto(base + "tasks/")
        figure = page.locator("figure.dm-chart").first
        assert figure.locator("img:visible").count() == 1
        figure.locator("summary").click()
        assert figure.locator("table").is_visible()


def test_the_switch_changes_the_map_and_the_address(page: Page, base: str) -> None:
    page.goto(base)
    page.get_by_role("radio", name="Code", exact=True).check()
    page.wait_for_selector('.dm-map-figure[data-shown="code--all"]')

    assert page.url.endswith("?task=code&method=all")
    assert page.locator("figcaption").first.text_content().startswith("Code: ")


def test_an_address_with_a_choice_opens_with_it(page: Page, base: str) -> None:
    page.goto(f"{base}?task=math&method=prompt-lookup")
    page.wait_for_selector('.dm-map-figure[data-shown="math--prompt-lookup"]')

    assert page.locator('input[value="prompt-lookup"]').is_checked()
    assert " with Prompt lookup: " in page.locator("figcaption").first.text_content()


def test_an_address_with_a_made_up_choice_changes_nothing(page: Page, base: str) -> None:
    page.goto(f"{base}?task=../../x&method=%3Cb%3E", wait_until="networkidle")

    assert page.locator('input[name="task"][value="all"]').is_checked()
    assert page.locator(".dm-map-figure[data-shown]").count() == 0


def test_a_chart_wakes_when_it_comes_near_and_not_before(page: Page, base: str) -> None:
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    page.goto(base + "contribute/", wait_until="networkidle")
    assert not any("/vega." in url for url in fetched)

    page.goto(base + "tasks/")
    page.wait_for_selector('figure[data-state="live"] .dm-chart__live svg')

    assert sum("/vega." in url for url in fetched) == 1
    assert page.locator('figure[data-state="live"] .dm-chart__image').first.is_hidden()


def test_a_chart_follows_the_colour_scheme(page: Page, base: str) -> None:
    page.goto(base + "tasks/")
    label = page.locator('figure[data-state="live"] .role-axis-label text').first
    label.wait_for()
    light = label.get_attribute("fill")
    page.locator('label[title="Switch to dark mode"]').click()
    expect(page.locator(".role-axis-label text").first).not_to_have_attribute("fill", light)

    assert page.locator("body").get_attribute("data-md-color-scheme") == "slate"


def test_a_chart_that_cannot_wake_points_to_its_table(page: Page, base: str) -> None:
    page.route("**/assets/charts/tasks.json", lambda route: route.abort())
    page.goto(base + "tasks/")
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

    assert names[0].endswith("12 GB")
    assert page.locator("#dm-devices tbody tr:visible th").all_text_contents() == ["RTX 4060 8 GB"]


def test_text_that_wants_to_be_code_stays_text(page: Page, base: str) -> None:
    page.add_init_script("window.boom = () => { window.exploded = true }")
    page.goto(base + HOSTILE)
    page.mouse.move(400, 300)
    page.locator("h1").hover()

    assert HOSTILE_NOTE in page.locator(".dm-lede").text_content()
    assert page.evaluate("window.exploded") is None
    assert page.locator("a[href^='javascript']").count() == 0


def test_axe_finds_nothing_serious(browser: Browser, base: str) -> None:
    found: list[str] = []
    with browser.new_context(viewport=WIDE, bypass_csp=True) as context:
        page = context.new_page()
        for address in INSPECTED:
            page.goto(base + address)
            found += [f"{address} {line}" for line in serious(page, {})]
            if address in COLOURFUL:
                page.locator('label[title="Switch to dark mode"]').click()
                found += [f"{address} dark {line}" for line in serious(page, CONTRAST)]
                page.locator('label[title="Switch to light mode"]').click()

    assert not found, "\n".join(found)


def one_of_each_kind(found: list[str]) -> list[str]:
    """Every page that has a template of its own, and one of those that share one."""
    kinds: dict[tuple[str, bool], str] = {}
    for address in found:
        folder, _, rest = address.partition("/")
        kinds.setdefault((folder, bool(rest)), address)
    return [*kinds.values(), HOSTILE]


def serious(page: Page, options: dict[str, object]) -> list[str]:
    """What axe calls serious or critical, each with its first place."""
    violations = Axe().run(page, options=options).response["violations"]
    return [
        f"{each['id']} ({len(each['nodes'])}): {each['nodes'][0]['html'][:160]}"
        for each in violations
        if each["impact"] in ("serious", "critical")
    ]


def watched(context: BrowserContext, base: str, complaints: list[str]) -> Page:
    """A page that writes down errors, refusals of the policy and requests to other hosts."""
    page = context.new_page()
    page.on(
        "console",
        lambda message: message.type == "error" and complaints.append(f"{page.url} {message.text}"),
    )
    page.on("pageerror", lambda error: complaints.append(f"{page.url} {error}"))
    page.on(
        "request",
        lambda request: (
            request.url.startswith((base, "data:", "blob:"))
            or complaints.append(f"{page.url} asked for {request.url}")
        ),
    )
    return page


def px_too_wide(page: Page) -> int:
    """Pixels by which a page can be scrolled sideways, once its transitions have ended."""
    width = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    if page.evaluate(width):
        page.wait_for_timeout(500)
    return int(page.evaluate(width))


def scroll_through(page: Page) -> None:
    """Bring everything near the viewport once, so that every chart wakes."""
    page.evaluate(
        "async () => { for (let y = 0; y < document.body.scrollHeight; y += 700) {"
        " scrollTo(0, y); await new Promise(requestAnimationFrame); } }"
    )
    page.wait_for_selector("figure[data-spec]:not([data-state])", state="detached")
