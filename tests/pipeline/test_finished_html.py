"""Tables pass MkDocs unread, and every page shows them where its template put them."""

from pathlib import Path

import pytest

from pipeline.site.finished_html import insert_parts, set_aside
from tests.sites import built_site

TABLE = '<table class="dm-table">\n<tr><td>1.31</td></tr>\n</table>\n'
PAGE = f"# A card\n\n<div>\n{TABLE}</div>\n\nWords between.\n\n{TABLE.replace('1.31', '0.95')}"


def test_a_table_is_a_comment_until_its_page_is_built(tmp_path: Path) -> None:
    docs, site = tmp_path / "docs", tmp_path / "site"

    left = set_aside(docs, "devices/card.md", PAGE)
    (page := site / "devices" / "card" / "index.html").parent.mkdir(parents=True)
    page.write_text(left, "utf-8")
    insert_parts(docs, site)

    assert left == (
        "# A card\n\n<div>\n<!-- finished html 1 -->\n</div>\n\nWords between.\n\n"
        "<!-- finished html 2 -->\n"
    )
    assert page.read_text("utf-8") == PAGE


def test_the_home_page_is_at_the_root(tmp_path: Path) -> None:
    left = set_aside(tmp_path, "index.md", TABLE)
    (tmp_path / "index.html").write_text(f"<main>{left}</main>", "utf-8")

    insert_parts(tmp_path, tmp_path)

    assert (tmp_path / "index.html").read_text("utf-8") == f"<main>{TABLE}</main>"


def test_a_page_without_tables_is_unchanged(tmp_path: Path) -> None:
    text = "# Questions\n\nA table has `<table>` in its source.\n"

    assert set_aside(tmp_path, "faq.md", text) == text
    assert list(tmp_path.iterdir()) == []


@pytest.mark.builds
@pytest.mark.long
def test_no_built_page_lacks_a_part(tmp_path_factory: pytest.TempPathFactory) -> None:
    site = built_site(tmp_path_factory.getbasetemp())
    pages = {path: path.read_text("utf-8") for path in site.rglob("*.html")}

    assert [path for path, text in pages.items() if "finished html" in text] == []
    assert sum(text.count("<table") for text in pages.values()) > len(pages)
