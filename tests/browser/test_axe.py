"""Does axe find anything serious on a page of each kind, in the light and in the dark?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.base import AXE_SCRIPT

from tests.browser.pages import WIDE, one_of_each_kind
from tests.sites import addresses

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser
# What repeats is inspected once, or at its beginning: what stands around the articles, the rows of
# a table, the items of a list, the parts of a long reference.
REPEATED = (
    "tbody > tr:nth-child(n + 4)",
    "li:nth-child(n + 8)",
    "svg > :nth-child(n + 30)",
    "article > :nth-child(n + 40)",
)
ARTICLE = {"include": [["article"]], "exclude": [[each] for each in REPEATED]}
WHOLE = {"exclude": ARTICLE["exclude"]}
STILL = "* { transition: none !important }"
OPTIONS = {"resultTypes": ["violations"], "selectors": False}
# The theme changes colours and nothing else.
CONTRAST = {**OPTIONS, "runOnly": ["color-contrast"]}
INSPECT = "([context, options]) => axe.run(context, options)"
# Prose in the same template as the methodology, without parts of their own.
LIKE_METHODOLOGY = {"faq/", "glossary/", "design/"}
# Pages that are another page with a script, and without it until the script has answered.
READY = {
    "explore/": '#dm-explore[data-state="ready"]',
    "compare/": '#dm-compare[data-state="ready"]',
    "advisor/": '.dm-advisor[data-state="ready"]',
}


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that axe may be put into, which the policy of the site forbids."""
    with browser.new_context(viewport=WIDE, color_scheme="light", bypass_csp=True) as context:
        yield context.new_page()


def test_axe_finds_nothing_serious_in_either_theme(page: Page, base: str, site: Path) -> None:
    found: list[str] = []
    for address in one_of_each_kind(addresses(site)):
        if address in LIKE_METHODOLOGY:
            continue
        context = ARTICLE if address else WHOLE
        inspectable(page, base + address).locator(READY.get(address, "article")).wait_for()
        found += [f"{address} {line}" for line in serious(page, context, OPTIONS)]
        page.evaluate("document.body.dataset.mdColorScheme = 'slate'")
        found += [f"{address} dark {line}" for line in serious(page, context, CONTRAST)]

    assert not found, "\n".join(found)


def test_axe_would_say_so(page: Page, base: str) -> None:
    inspectable(page, base + "faq/").locator("h1").evaluate(
        "(heading) => { heading.style.color = '#bbb'; heading.append(new Image()); }"
    )

    found = serious(page, ARTICLE, OPTIONS)
    assert {line.split()[0] for line in found} == {"image-alt", "color-contrast"}


def inspectable(page: Page, address: str) -> Page:
    """The page at an address with axe in it, and with colours that do not fade in."""
    page.goto(address)
    page.add_style_tag(content=STILL)
    page.evaluate(AXE_SCRIPT)
    return page


def serious(page: Page, context: dict[str, Any], options: dict[str, Any]) -> list[str]:
    """What axe calls serious or critical, each with its first place."""
    violations = page.evaluate(INSPECT, [context, options])["violations"]
    return [
        f"{each['id']} ({len(each['nodes'])}): {each['nodes'][0]['html'][:160]}"
        for each in violations
        if each["impact"] in ("serious", "critical")
    ]
