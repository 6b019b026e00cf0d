"""Every kind of page, opened once: light, quiet, as wide as the screen, and accessible."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

from bench.weights import RequestedPaths, weighed
from tests.browser.pages import (
    EXCESS,
    MIDDLE,
    NARROW,
    WIDE,
    comes_to,
    one_of_each_kind,
    px_too_wide,
    stir,
    wake_charts,
)
from tests.sites import addresses

pytestmark = [pytest.mark.browser, pytest.mark.tour]
# Repeated parts are inspected once, or only at their start: the frame around articles, rows of a
# table, items of a list, sections of a long reference.
REPEATED = (
    "tbody > tr:nth-child(n + 4)",
    "li:nth-child(n + 8)",
    "svg > :nth-child(n + 30)",
    "article > :nth-child(n + 40)",
)
EXCLUDED = [[each] for each in REPEATED]
# A constructed sheet is not an inline style, so the policy of the site allows it.
STILL = """() => { const sheet = new CSSStyleSheet();
  sheet.replaceSync('* { transition: none !important }');
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]; }"""
OPTIONS = {"resultTypes": ["violations"], "selectors": False}
# The theme changes colours and nothing else.
CONTRAST = {**OPTIONS, "runOnly": ["color-contrast"]}
ALL_ELSE = {**OPTIONS, "rules": {"color-contrast": {"enabled": False}}}
# Axe is slow to find the background of a text. So of texts that look alike, including the
# backgrounds of all elements around them, only the first one over all pages is inspected. It is
# marked; returned are the number of texts and the new looks.
LOOKS = """([place, repeated, known]) => {
  const grounds = new Map();
  const ground = (each) => {
    if (!each) return '';
    if (!grounds.has(each)) {
      const style = getComputedStyle(each);
      const own = GROUND.map((name) => style[name]).join();
      const below = ground(each.parentElement);
      grounds.set(each, own === PLAIN ? below : below + own);
    }
    return grounds.get(each);
  };
  const GROUND = ['backgroundColor', 'backgroundImage', 'opacity', 'filter', 'position'];
  const PLAIN = 'rgba(0, 0, 0, 0),none,1,none,static';
  const INK = ['color', 'fontSize', 'fontWeight', 'textShadow'];
  const seen = new Set(known), fresh = [];
  let texts = 0;
  for (const each of document.querySelectorAll(`${place}, ${place} *`)) {
    delete each.dataset.look;
    const said = [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!said || each.closest(repeated) || !each.checkVisibility()) continue;
    const style = getComputedStyle(each);
    const letters = INK.map((name) => style[name]);
    const look = [each.tagName, each.className, ...letters, ground(each)].join();
    texts += 1;
    if (seen.has(look)) continue;
    seen.add(look);
    fresh.push(look);
    each.dataset.look = '';
  }
  return [texts, fresh];
}"""
# The buttons of every chart on a page, and its text for screen readers.
BUTTONS = """() => [...document.querySelectorAll('figure[data-spec]')].map((figure) =>
  [...figure.querySelectorAll('.dm-chart__files > *')].map((each) => each.textContent))"""
SPOKEN = "() => [...document.querySelectorAll('figure [aria-label]')].map((each) => each.ariaLabel)"
FIELD = re.compile(r"\b[a-z]+_[a-z_]+\b|undefined|NaN")
POINTS = "figure[data-spec] .dm-chart__live svg .mark-symbol[role='graphics-object'] path"
# Pages with charts; on the first two, a point is touched to read its tooltip.
TOUCHED = ("what-moves-it/", "builds/")
CHARTS = {*TOUCHED}
# Rules whose violations axe itself calls minor would not be reported.
INSPECT = """([context, options]) => {
  for (const rule of axe._audit.rules)
    if (rule.impact === 'minor') rule.enabled = false;
  return axe.run(context, options);
}"""
# Pages whose script replaces their content once it has an answer.
READY = {
    "explore/": '#dm-explore[data-state="ready"]',
}


def test_no_page_complains_spreads_weighs_too_much_or_shuts_anyone_out(
    page: Page, base: str, site: Path, complaints: list[str]
) -> None:
    """Pages are wide, then narrower with live charts, in both themes; `test_hostile.py`: phones."""
    asked = RequestedPaths(site, base)
    page.on("request", asked.hear)
    drawn, looks = set(), set[str]()
    for address in one_of_each_kind(addresses(site)):
        found = [*weighed(page, asked, address).excess, *_searched(asked)]
        stir(page)
        if page.locator("figure[data-spec]").count():
            drawn.add(address)
            found += _silent(page, touched=address in TOUCHED)
        inspectable(page)
        page.locator(READY.get(address, "article")).wait_for()
        found += _inaccessible(page, "article" if address else "html", looks)
        for size in (NARROW, MIDDLE, WIDE):
            page.set_viewport_size(size)
            if not comes_to(page, EXCESS, 0):  # a chart follows the width a moment later
                found.append(f"{px_too_wide(page)} px too wide at {size['width']} px")
        found += page.evaluate("window.caught")
        complaints += [f"{address or 'home'}: {line}" for line in found]

    assert not complaints, "\n".join(complaints)
    assert CHARTS - drawn == set()


def _searched(asked: RequestedPaths) -> Iterator[str]:
    """The parts of the search that loaded without a search."""
    return (f"asked for {path}" for path in asked.paths if "search" in path)


def _silent(page: Page, *, touched: bool) -> Iterator[str]:
    """Faults of live charts: a missing button, or a field name in place of words."""
    wake_charts(page)
    page.locator("figure[data-spec]:not(:has(.dm-chart__files[data-ready]))").first.wait_for(
        state="detached"
    )
    yield from (
        f"a chart has the buttons {each}"
        for each in page.evaluate(BUTTONS)
        if each != ["PNG", "SVG", "CSV", "Link"]
    )
    spoken = page.evaluate(SPOKEN)
    if touched:
        page.locator(POINTS).first.hover(force=True)
        spoken.append(page.locator("#vg-tooltip-element").inner_text())
        page.mouse.move(0, 0)
        if len(spoken) < 4:
            yield f"its charts say only {spoken}"
    yield from (f"a chart says {text!r}" for text in spoken if not text or FIELD.search(text))


def _inaccessible(page: Page, place: str, looks: set[str]) -> Iterator[str]:
    """The findings of axe on an open page in the light theme, and low contrast in the dark one."""
    yield from serious(page, place)
    yield from (f"light {line}" for line in pale(page, place, looks))
    page.evaluate("document.body.dataset.mdColorScheme = 'slate'")
    yield from (f"dark {line}" for line in pale(page, place, looks))


def test_axe_finds_deliberate_faults(page: Page, base: str) -> None:
    page.goto(base + "how-it-works/")
    inspectable(page).locator("h1").evaluate(
        "(heading) => { heading.style.color = '#bbb'; heading.append(new Image()); }"
    )

    assert [line.split()[0] for line in serious(page, "article")] == ["image-alt"]
    assert [line.split()[0] for line in pale(page, "article", set())] == ["color-contrast"]


def test_contrast_is_checked_on_every_background(page: Page, base: str) -> None:
    page.goto(base + "how-it-works/")
    inspectable(page).evaluate(
        """() => { const text = [...document.querySelectorAll('article p')]
            .find((each) => each.checkVisibility() && !each.querySelector('svg'));
          const pale = text.cloneNode(true);
          const box = document.createElement('div');
          box.style.background = '#777';
          box.append(pale);
          text.before(box); }"""
    )

    assert [line.split()[0] for line in pale(page, "article", set())] == ["color-contrast"]


def inspectable(page: Page) -> Page:
    """The open page with axe in it, and with colours that do not fade in."""
    page.evaluate(STILL)
    page.evaluate(AXE_SCRIPT)
    return page


def serious(page: Page, place: str) -> list[str]:
    """Findings of axe except minor ones and colours, each with its first element."""
    return _violations(page, place, ALL_ELSE)


def pale(page: Page, place: str, known: set[str]) -> list[str]:
    """Texts with too little contrast; of texts that look alike, the first.

    Looks in `known` are not inspected again; new looks are added.
    """
    texts, fresh = page.evaluate(LOOKS, [place, ", ".join(REPEATED), list(known)])
    assert texts > 0
    known.update(fresh)
    return _violations(page, "[data-look]", CONTRAST) if fresh else []


def _violations(page: Page, place: str, options: dict[str, Any]) -> list[str]:
    context = {"include": [[place]], "exclude": EXCLUDED}
    violations = page.evaluate(INSPECT, [context, options])["violations"]
    return [
        f"{each['id']} ({len(each['nodes'])}): {each['nodes'][0]['html'][:160]}"
        for each in violations
        if each["impact"] != "minor"
    ]
