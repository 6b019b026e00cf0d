"""Everything can be reached, seen and used with the keyboard alone."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import stir

pytestmark = pytest.mark.browser
SLACK = 5
EXPLORE = '#dm-explore[data-state="ready"]'
# Every control on the page; of a group of radio buttons only the chosen one,
# because the arrow keys lead to the others.
CONTROLS = """() => {
  const usable = 'a[href], button, input, select, textarea, summary, [tabindex="0"]';
  const shown = (each) => each.checkVisibility({ visibilityProperty: true });
  window.controls = [...document.querySelectorAll(usable)]
    .filter((each) => !each.disabled && each.tabIndex >= 0 && shown(each))
    .filter((each) => each.type !== 'radio' || each.checked);
  window.seen = new Set();
  window.unmarked = new Set();
  const marked = (each) => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(each);
    return (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) || boxShadow !== 'none';
  };
  document.addEventListener('focusin', ({ target }) => {
    window.seen.add(target);
    const places = [target, ...(target.labels ?? [])];
    if (!places.some(marked)) window.unmarked.add(target.outerHTML.slice(0, 160));
  });
  return window.controls.length;
}"""
# The button back to the top is hidden while the page is at its top.
MISSED = """() => window.controls.filter((each) => each.tabIndex >= 0 && !window.seen.has(each))
  .map((each) => each.outerHTML.slice(0, 160))"""


@pytest.mark.parametrize(
    ("address", "ready"),
    [
        pytest.param("", ".dm-filter", marks=pytest.mark.nightly),
        ("explore/?words=3060&task=code", EXPLORE),
    ],
)
def test_tab_reaches_every_control_and_shows_where_it_is(
    page: Page, base: str, address: str, ready: str
) -> None:
    page.goto(base + address)
    stir(page)
    page.locator(ready).wait_for()
    controls = page.evaluate(CONTROLS)
    for _ in range(controls + SLACK):
        page.keyboard.press("Tab")

    assert controls > 20
    assert page.evaluate(MISSED) == []
    assert page.evaluate("[...window.unmarked]") == []


@pytest.mark.nightly
def test_the_filters_of_explore_work_without_a_mouse(page: Page, base: str) -> None:
    page.goto(base + "explore/")
    page.locator('select[name="task"]').focus()
    page.locator(EXPLORE).wait_for()
    page.keyboard.type("Code")
    expect(page).to_have_url(f"{base}explore/?task=code")
    page.locator('#dm-cells th[data-sort="device"] button').focus()
    page.keyboard.press("Space")
    expect(page).to_have_url(f"{base}explore/?task=code&sort=device")
    page.get_by_role("button", name="Clear filters").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{base}explore/")

    page.locator("#dm-cells tbody a").first.focus()
    page.keyboard.press("Enter")
    expect(page).not_to_have_url(f"{base}explore/")


def test_the_search_finds_a_device_from_the_keyboard(page: Page, base: str) -> None:
    page.goto(base + "how-it-works/")
    page.keyboard.press("/")
    expect(page.get_by_role("textbox", name="Search")).to_be_focused()
    page.keyboard.type("RTX 3060")
    found = page.locator(".md-search-result__link", has_text="RTX 3060 12 GB")
    expect(found.first).to_be_visible()
    for _ in range(10):
        page.keyboard.press("ArrowDown")
        if "devices/rtx-3060-12-gb" in page.evaluate("document.activeElement.href ?? ''"):
            break
    page.keyboard.press("Enter")

    expect(page.locator("h1")).to_contain_text("RTX 3060 12 GB")
    expect(page).to_have_url(re.compile("devices/rtx-3060-12-gb/"))


# The pages of which one is among the first three that the search finds.
SEARCHES = {
    "ngram": ("what-moves-it/",),
    "rtx pro 6000": ("devices/rtx-pro-6000-",),
    "strix halo": ("devices/radeon-8060s/",),
    "eagle": ("what-moves-it/",),
    "license": ("data/",),
    "ollama": ("how-it-works/",),
    "vllm": ("how-it-works/",),
    "lm studio": ("how-it-works/",),
    "gpt-oss": ("models/gpt-oss-",),
    "70b": ("models/llama-3-3-70b/", "will-it-fit/"),
    "vram": ("will-it-fit/",),
    "regression": ("builds/",),
    "temperature": ("how-it-works/",),
    "quantization": ("will-it-fit/",),
    "p-min": ("slower/",),
    "windows": ("contribute/",),
    "rtx 3090": ("devices/rtx-3090-24-gb/",),
    "m3 max": ("devices/apple-m3-max/",),
    "mtp": ("what-moves-it/",),
    "dflash": ("what-moves-it/",),
    "draft model": ("what-moves-it/",),
    "install": ("contribute/",),
    "contribute": ("contribute/",),
    "cite": ("data/",),
    "csv": ("data/",),
    "moe": ("how-it-works/",),
    "context": ("will-it-fit/", "what-moves-it/"),
    "acceptance": ("how-it-works/",),
    "llama-server": ("slower/", "contribute/"),
}


def test_the_search_knows_common_names(page: Page, base: str) -> None:
    lost = []
    for words, pages in SEARCHES.items():
        page.goto(f"{base}how-it-works/?{urlencode({'q': words})}")
        found = page.locator(".md-search-result__link")
        expect(found.first).to_be_visible()
        links = found.evaluate_all("all => all.slice(0, 3).map(({ href }) => href)")
        first = [link.removeprefix(base) for link in links]
        lost += [] if any(link.startswith(pages) for link in first) else [(words, first)]

    assert lost == []
