"""Explore works in a browser: filters, address, order, copies, phones, no script."""

import csv
import io
import re

import pytest
from playwright.sync_api import Page, Route, expect

from pipeline.data.formats import guarded
from tests.browser.pages import NARROW, WIDE, stir
from tests.processes import eventually

pytestmark = pytest.mark.browser
ROWS = "#dm-cells tbody tr"
READY = '#dm-explore[data-state="ready"]'


def opened(page: Page, address: str) -> Page:
    page.goto(address)
    stir(page)
    page.wait_for_selector(READY)
    return page


def with_all_filters(page: Page) -> Page:
    page.locator(".dm-explore__filters summary").click()
    return page


def tasks(page: Page) -> set[str]:
    return set(page.locator(f"{ROWS} td:nth-child(5)").all_text_contents())


def test_a_tool_loads_its_figures_when_the_visitor_acts(page: Page, base: str) -> None:
    file = "/explore/cells."
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(base + "explore/", wait_until="networkidle")
    before = [url for url in asked if f"assets{file}" in url]
    with page.expect_request(lambda request: f"assets{file}" in request.url):
        page.mouse.move(9, 9)

    assert before == []


@pytest.mark.nightly
def test_text_typed_while_the_cells_load_counts(page: Page, base: str) -> None:
    held: list[Route] = []
    page.route("**/assets/explore/*", lambda route: held.append(route))  # noqa: PLW0108 - it is marked
    page.goto(base + "explore/")
    with page.expect_request("**/assets/explore/*"):
        page.locator("#dm-explore-words").fill("4060")
    # The handler hears of a request a moment after the page, while the browser is asked.
    assert eventually(lambda: bool(page.evaluate("1") and held))
    held[0].continue_()

    expect(page).to_have_url(f"{base}explore/?words=4060")
    assert "RTX 4060" in page.locator(f"{ROWS} th").first.inner_text()


def test_filters_change_rows_and_address_and_back_undoes_them(page: Page, base: str) -> None:
    with_all_filters(opened(page, base + "explore/"))
    everything = page.locator('[data-part="count"]').text_content()
    page.get_by_label("Task", exact=True).select_option("code")
    page.get_by_label("Backend").select_option("vulkan")

    assert tasks(page) == {"Code"}
    expect(page).to_have_url(f"{base}explore/?task=code&backend=vulkan")
    assert page.locator('[data-part="count"]').text_content() != everything

    page.go_back()
    expect(page).to_have_url(f"{base}explore/?task=code")
    expect(page.get_by_label("Backend")).to_have_value("")
    page.go_back()
    expect(page.locator('[data-part="count"]')).to_have_text(everything)


def test_a_shared_address_restores_valid_values_and_ignores_others(page: Page, base: str) -> None:
    opened(page, base + "explore/?words=4060&task=math&backend=%3Cb%3E&sort=-cost&page=9&size=x")

    assert tasks(page) == {"Math"}
    assert page.get_by_label("Search", exact=True).last.input_value() == "4060"
    assert page.locator('[data-sort="cost"]').get_attribute("aria-sort") == "descending"
    assert page.get_by_label("Backend").input_value() == ""


def test_the_keyboard_sorts_and_the_heading_says_so(page: Page, base: str) -> None:
    opened(page, base + "explore/")
    heading = page.locator('th[data-sort="low"]')
    heading.get_by_role("button").focus()
    page.keyboard.press("Enter")

    expect(heading).to_have_attribute("aria-sort", "ascending")
    shown = page.locator(f"{ROWS} td:nth-child(6) .dm-interval").all_text_contents()
    lows = [float(text.lstrip("[<").split(",")[0]) for text in shown]
    assert lows == sorted(lows)
    assert len(lows) > 1
    expect(page).to_have_url(f"{base}explore/?sort=low")


def test_the_copied_csv_holds_the_rows_that_are_shown(page: Page, base: str) -> None:
    opened(page, base + "explore/?task=code&backend=vulkan&method=draft-model&words=4060")
    page.get_by_role("button", name="Copy as CSV").click()
    expect(page.locator("[data-part=copied]")).not_to_be_empty()
    copied = list(csv.DictReader(io.StringIO(page.evaluate("navigator.clipboard.readText()"))))

    assert page.locator(ROWS).count() == len(copied) == 1
    assert copied[0]["device"] == "RTX 4060 8 GB"
    assert copied[0]["task"] == "code"
    assert f"{copied[0]['speedup']}×" in page.locator(ROWS).text_content()  # noqa: RUF001 - as printed
    assert copied[0]["evidence"].startswith(base + "submissions/")


CELLS = """async ([script, name, texts]) => {
  const all = await import(`../assets/javascripts/${script}.js`);
  return texts.map(all[name]);
}"""
SHEET = {
    "=1+1": "'=1+1",
    "+a": "'+a",
    "-2+3": "'-2+3",
    "@SUM(1)": "'@SUM(1)",
    "\t=1": "'\t'=1",
    "a;=1": "a;'=1",
    "  =1": "'  =1",
    "\N{NO-BREAK SPACE}=1": "'\N{NO-BREAK SPACE}=1",
    "\N{FULLWIDTH EQUALS SIGN}1": "'\N{FULLWIDTH EQUALS SIGN}1",
    "1.5": "1.5",
    "RTX 4060": "RTX 4060",
}
QUOTED = {"a,b": '"a,b"', 'a"b': '"a""b"', "=1,2": '"\'=1,2"', "=a\nb": '"\'=a\nb"'}
MARKDOWN = {
    "RTX 4060 8 GB": "RTX 4060 8 GB",
    "": "–",  # noqa: RUF001 - as printed
    "a|b": "a\\|b",
    "a\\|b": "a\\\\\\|b",
    "a\n| b |": "a \\| b \\|",
    "<b onload=x>": "\\<b onload=x\\>",
    "&lt;script&gt;": "\\&lt;script\\&gt;",
    "[x](javascript:y)": "\\[x\\](javascript:y)",
    "![x][y]": "!\\[x\\]\\[y\\]",
    "~~x~~ $y$": "\\~\\~x\\~\\~ \\$y\\$",
    "https://example.invalid": "https\\://example.invalid",
    "www.example.invalid": "www\\.example.invalid",
    ":smile:": "\\:smile:",
    "@ada": "@\N{ZERO WIDTH SPACE}ada",
    "Xeon @ 2.4 GHz": "Xeon @ 2.4 GHz",
}


def test_copied_formulas_get_an_apostrophe_as_in_the_files(page: Page, base: str) -> None:
    opened(page, base + "explore/")
    cells = SHEET | QUOTED

    assert page.evaluate(CELLS, ["say", "csvCell", list(cells)]) == list(cells.values())
    assert [guarded(text) for text in SHEET] == list(SHEET.values())
    lines = ",".join(cells.values())
    assert next(csv.reader(io.StringIO(lines, newline=""))) == [guarded(text) for text in cells]


def test_text_stays_text_in_a_copied_markdown_table(page: Page, base: str) -> None:
    opened(page, base + "explore/")

    found = page.evaluate(CELLS, ["cells-text", "markdownCell", list(MARKDOWN)])

    assert found == list(MARKDOWN.values())


def test_a_row_leads_to_its_evidence_and_gives_its_command(page: Page, base: str) -> None:
    opened(page, base + "explore/?task=code&backend=cuda&method=draft-model&words=4060")
    row = page.locator(ROWS).first
    command = row.get_by_role("button", name="copy").get_attribute("title")
    row.get_by_role("link", name="result").click()

    assert command == (
        "python -m harness run --target Sample-7B-Q4_K_M.gguf --draft Tiny-500M-Q8_0.gguf"
        " --method draft-model:n_max=4 --tasks code"
    )
    expect(page).to_have_url(re.compile("/submissions/"))


@pytest.mark.nightly
def test_a_filtered_view_can_be_copied_as_a_link(page: Page, base: str) -> None:
    opened(page, base + "explore/")
    page.get_by_label("Task", exact=True).select_option("code")
    page.locator('[data-copy="link"]').first.click()
    expect(page.locator("[data-part=copied]")).not_to_be_empty()

    assert page.evaluate("navigator.clipboard.readText()") == f"{base}explore/?task=code"


@pytest.mark.nightly
def test_a_search_without_a_match_leads_to_the_form(page: Page, base: str) -> None:
    opened(page, base + "explore/?words=RTX+9999")

    assert page.locator("#dm-cells tbody").inner_text().startswith("Nobody has measured this.")
    page.locator("#dm-cells").get_by_role("link", name="Ask what to expect").click()
    expect(page).to_have_url(f"{base}#mine")


def test_explore_is_usable_on_a_phone(page: Page, base: str) -> None:
    page.set_viewport_size(NARROW)
    opened(page, base + "explore/")

    assert not page.get_by_label("Video memory").is_visible()
    with_all_filters(page)
    assert page.get_by_label("Video memory").is_visible()
    page.get_by_label("Task", exact=True).select_option("json")
    assert tasks(page) == {"Structured JSON"}
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]


def test_published_figures_are_found_with_their_sources(page: Page, base: str) -> None:
    opened(page, base + "explore/?tier=published")

    row = page.locator(ROWS).first
    expect(row).to_contain_text("no interval")
    expect(row.get_by_role("link", name="source")).to_have_attribute("rel", "noopener nofollow")


def test_without_javascript_the_first_rows_are_there(still_tab: Page, base: str) -> None:
    still_tab.set_viewport_size(WIDE)
    still_tab.goto(base + "explore/")

    assert still_tab.locator(ROWS).count() == 25
    assert not still_tab.locator("#dm-explore").is_visible()
    assert still_tab.get_by_role("link", name="CSV", exact=True).is_visible()
