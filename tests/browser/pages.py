"""What do the browser tests share? The kinds of pages, the sizes, and what is watched on a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.processes import eventually
from tests.sites import submission_name

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page, ViewportSize

WIDE: ViewportSize = {"width": 1440, "height": 900}
MIDDLE: ViewportSize = {"width": 768, "height": 1024}
NARROW: ViewportSize = {"width": 390, "height": 844}
HOSTILE = f"submissions/{submission_name(3)}/"
WAKE = """async () => { for (const each of document.querySelectorAll('figure[data-spec]')) {
  each.scrollIntoView();
  for (const frame of [1, 2]) await new Promise(requestAnimationFrame); } }"""
EXCESS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
# Everything that moves on the page has come to its end, even if it was called off on its way.
AT_REST = """() => Promise.allSettled(document.getAnimations()
  .filter((each) => each.effect.getComputedTiming().endTime !== Infinity)
  .map((each) => each.finished))"""


def one_of_each_kind(found: list[str]) -> list[str]:
    """Every page that has a template of its own, and one of those that share one."""
    kinds: dict[tuple[str, bool], str] = {}
    for address in found:
        folder, _, rest = address.partition("/")
        kinds.setdefault((folder, bool(rest)), address)
    return list(kinds.values())


def watched(context: BrowserContext, base: str, complaints: list[str]) -> Page:
    """A page that writes down errors, refusals of the policy and requests to other hosts."""
    page = context.new_page()
    page.on("dialog", lambda dialog: complaints.append(f"{page.url} asked {dialog.message}"))
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
    if page.evaluate(EXCESS):
        page.evaluate(AT_REST)
    return int(page.evaluate(EXCESS))


def comes_to(page: Page, expression: str, expected: object) -> bool:
    """Whether an expression comes to a value. Playwright's own way breaks the site's policy."""
    return eventually(lambda: bool(page.evaluate(expression) == expected))


def stir(page: Page) -> None:
    """Do something on a page: charts and tools sleep until then.

    Not before its scripts have run, which would not hear of it.
    """
    page.wait_for_load_state("load")
    page.evaluate("window.dispatchEvent(new Event('pointermove'))")


def wake_charts(page: Page) -> None:
    """Bring every chart near the viewport, and wait until it is alive."""
    stir(page)
    page.evaluate(WAKE)
    page.locator("figure[data-spec]:not([data-state])").first.wait_for(state="detached")
