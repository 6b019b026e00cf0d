"""Shared by browser tests: the kinds of pages, the sizes, and the watching of a page."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from playwright.sync_api import BrowserContext, Page, ViewportSize

from tests.processes import eventually

WIDE: ViewportSize = {"width": 1440, "height": 900}
LAPTOP: ViewportSize = {"width": 1366, "height": 768}
MIDDLE: ViewportSize = {"width": 768, "height": 1024}
NARROW: ViewportSize = {"width": 390, "height": 844}
# Scripts that run, dialogs and violations of the policy are recorded in this list.
CATCH = """
window.caught = [];
window.boom = () => { window.caught.push('boom'); };
document.addEventListener('securitypolicyviolation',
  (event) => window.caught.push(`policy: ${event.violatedDirective} ${event.blockedURI}`));
"""
# Unexpected layout shifts: the browser ignores shifts within half a second after an input.
WATCH_SHIFTS = """window.shifts = 0;
new PerformanceObserver((list) => { for (const each of list.getEntries())
  if (!each.hadRecentInput) window.shifts += each.value; })
  .observe({ type: 'layout-shift', buffered: true });
"""
FORGET = "() => { localStorage.clear(); sessionStorage.clear(); }"
# One by one, as for a reader: the next chart is drawn while this one is in view.
WAKE = """async () => { for (const each of document.querySelectorAll('figure[data-spec]')) {
  each.scrollIntoView();
  for (let frame = 0; frame < 200 && (frame < 2 || !each.dataset.state); frame++)
    await new Promise(requestAnimationFrame); } }"""
EXCESS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
# All animations on the page have ended or were cancelled.
AT_REST = """() => Promise.allSettled(document.getAnimations()
  .filter((each) => each.effect.getComputedTiming().endTime !== Infinity)
  .map((each) => each.finished))"""


def one_of_each_kind(found: list[str]) -> list[str]:
    """Every page with its own template, and one page for each shared template."""
    kinds: dict[tuple[str, bool], str] = {}
    for address in found:
        folder, _, rest = address.partition("/")
        kinds.setdefault((folder, bool(rest)), address)
    return list(kinds.values())


@contextmanager
def lent(
    tab: Page, size: ViewportSize = WIDE, scheme: Literal["light", "dark"] = "light"
) -> Iterator[Page]:
    """Lend the session's page at a certain size, and reset it afterwards.

    A new page would cost each test a second of processor time, to start a process and to compile
    the theme's scripts again.
    """
    heard: list[tuple[Any, Any]] = []
    listen = tab.on

    def on(event: Any, handler: Any) -> None:  # noqa: ANN401 - as Playwright takes them
        heard.append((event, handler))
        listen(event, handler)

    tab.on = on  # type: ignore[assignment, method-assign]  # until it is given back
    tab.set_viewport_size(size)
    tab.emulate_media(color_scheme=scheme)
    if tab.url.startswith("http"):  # now, because a change of scheme makes the page store a palette
        tab.evaluate(FORGET)
    try:
        yield tab
    finally:
        for event, handler in heard:
            tab.remove_listener(event, handler)
        tab.on = listen  # type: ignore[method-assign]
        tab.unroute_all(behavior="ignoreErrors")
        tab.mouse.move(0, 0)


def watched(context: BrowserContext, base: str, complaints: list[str]) -> Page:
    """A new page under `watch`."""
    return watch(context.new_page(), base, complaints)


def watch(page: Page, base: str, complaints: list[str]) -> Page:
    """Record errors on a page, refusals of the policy and requests to other hosts."""
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
    """Trigger an interaction with a page, because charts and tools load only then.

    It waits for the page's scripts, which would otherwise miss it.
    """
    page.wait_for_load_state("load")
    page.evaluate("window.dispatchEvent(new Event('pointermove'))")


def wake_charts(page: Page) -> None:
    """Bring every chart near the viewport, and wait until it is alive."""
    stir(page)
    page.evaluate(WAKE)
    page.locator("figure[data-spec]:not([data-state])").first.wait_for(state="detached")
