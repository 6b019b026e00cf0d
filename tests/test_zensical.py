"""The comparison of two sites covers the text for readers, and ignores the theme."""

from pathlib import Path

from tools.zensical import words, write_words

PAGE = (
    "<title>Home</title><nav>Menu</nav><article><h1>It helps</h1><p>by <b>1.7x</b><br>today</p>"
    '<img alt="a map"><script>x()</script></article><footer>Foot</footer>'
)


def test_words_of_title_and_article_are_compared() -> None:
    assert words(PAGE) == ["Home", "It", "helps", "by", "1.7x", "today", "a", "map"]


def test_of_other_files_only_names_without_digests_are_compared(tmp_path: Path) -> None:
    site = tmp_path / "site"
    (site / "assets" / "images").mkdir(parents=True)
    (site / "index.html").write_text(PAGE, "utf-8")
    (site / "charts.0123abcd.js").write_text("x()", "utf-8")
    (site / "assets" / "images" / "map.svg").write_text("<svg/>", "utf-8")

    write_words(site, tmp_path / "words")

    found = {path.name: path.read_text("utf-8") for path in (tmp_path / "words").rglob("*.*")}
    assert found == {
        "charts.js": "",
        "_.svg": "",
        "index.html": "Home\nIt\nhelps\nby\n1.7x\ntoday\na\nmap\n",
    }
