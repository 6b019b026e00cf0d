"""The built site has few kinds of page, few entries in its navigation, and not too many words."""

import re
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.sites import addresses, built_site

pytestmark = pytest.mark.long
KINDS = {
    *(
        "",
        "answers",
        "answers/*",
        "builds",
        "contribute",
        "data",
        "devices/*",
        "explore",
        "how-it-works",
        "models/*",
    ),
    *("slower", "submissions", "submissions/*", "what-moves-it", "will-it-fit"),
}
# On home, a third of the words say what speculation is and how each method guesses.
MOST_WORDS, MOST_OF_HOME, MOST_ENTRIES = 14_000, 720, 12
# Figures, what a click opens, and the rows of the strips are not prose.
APART = {"table", "code", "pre", "details", "svg", "script", "style", "noscript"}
EMPTY = {"br", "hr", "img", "input", "link", "meta", "source", "wbr"}
WORD = re.compile(r"\w[\w'.,-]*")


class Prose(HTMLParser):
    """The running text of an article."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, bool]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in EMPTY:
            rows = "dm-strips" in (dict(attrs).get("class") or "").split()
            self.open.append((tag, tag in APART or rows))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if any(tag == "article" for tag, _ in self.open) and not any(it for _, it in self.open):
            self.text.append(data)


def words(page: str) -> int:
    reader = Prose()
    reader.feed(page)
    return len(WORD.findall(" ".join(reader.text)))


def longest(site: Path) -> Mapping[str, int]:
    """Number of words of each kind of page, for its longest instance."""
    found: dict[str, int] = {}
    for address in addresses(site):
        folder, _, rest = address.partition("/")
        kind = f"{folder}/*" if rest else folder
        count = words((site / address / "index.html").read_text("utf-8"))
        found[kind] = max(count, found.get(kind, 0))
    return found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_site(tmp_path_factory.getbasetemp())


def test_words_in_tables_rows_code_and_details_are_not_counted() -> None:
    page = """<p>no</p><article><h1>One two</h1><table><tr><td>no<td>no</table>
      <p>three <code>no</code><br>four</p><details><summary>no</summary>no</details>
      <ol class="dm-strips"><li>no</ol></article>"""

    assert words(page) == 4


def test_the_kinds_of_page_are_fifteen_with_few_words_and_entries(site: Path) -> None:
    found = longest(site)
    tabs = re.findall(r'class="md-tabs__link"', (site / "index.html").read_text("utf-8"))

    assert set(found) == KINDS
    assert sum(found.values()) <= MOST_WORDS
    assert found[""] <= MOST_OF_HOME
    assert 0 < len(tabs) <= MOST_ENTRIES


def test_every_chart_has_room_for_the_buttons_that_a_script_adds(site: Path) -> None:
    for address in addresses(site):
        page = (site / address / "index.html").read_text("utf-8")
        assert page.count('class="dm-chart__files"') == page.count('<figure class="dm-chart"')
