"""Does the whole site come out right: complete, closed, repeatable, and unmoved by hostile text?"""

from __future__ import annotations

import gzip
import json
import re
import struct
from html import unescape
from typing import TYPE_CHECKING

import pytest

from pipeline.site.build import UnexpectedScriptError, build, inline_scripts, write_policy
from pipeline.site.pages.model import Asset, Site
from pipeline.site.pages.submissions import submission_pages
from schemas.vocabulary import say
from tests.links import Reader
from tests.sites import (
    HOSTILE_NOTE,
    PUBLISHED,
    addresses,
    built_site,
    submission_name,
    write_corpus,
)

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb


pytestmark = pytest.mark.long
ELSEWHERE = re.compile(r"""(?:src|srcset|data)=["'](?:https?:)?//|url\(["']?(?:https?:)?//""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_site(tmp_path_factory.getbasetemp())


def test_every_kind_of_page_is_there(site: Path) -> None:
    found = addresses(site)

    assert {"", "tasks/", "break-even/", "published/", "data/", "contribute/"} <= set(found)
    assert {"methodology/", "format/", "faq/", "glossary/", "design/"} <= set(found)
    assert {"methods/", "backends/", "verification/", "proofs/"} <= set(found)
    assert {"devices/", "devices/rtx-4060-8-gb/", "models/", "models/sample-7b/"} <= set(found)
    assert f"submissions/{submission_name(0)}/" in found


def test_the_same_inputs_give_the_same_bytes(site: Path, tmp_path: Path) -> None:
    again = build(results=write_corpus(tmp_path / "results"), output=tmp_path / "site")

    names = sorted(path.relative_to(site) for path in site.rglob("*") if path.is_file())
    assert names == sorted(p.relative_to(again) for p in again.rglob("*") if p.is_file())
    assert [n for n in names if (site / n).read_bytes() != (again / n).read_bytes()] == []


def test_every_published_figure_stands_on_the_published_page_as_printed(site: Path) -> None:
    page = unescape((site / "published" / "index.html").read_text("utf-8"))

    documents = [json.loads(path.read_text("utf-8")) for path in PUBLISHED.glob("*.json")]
    rows = [(doc["source"]["id"], row) for doc in documents for row in doc["rows"]]
    assert len(rows) > 100
    for source, row in rows:
        start = page.index(f'id="{source}--{row["id"]}"')
        shown = page[start : page.index("</tr>", start)]
        for figure in row["figures"]:
            assert f"<strong>{figure['as_printed']}</strong>" in shown
        assert row["place"] in shown


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    texts = {p: p.read_text("utf-8") for kind in ("*.html", "*.css") for p in site.rglob(kind)}

    assert [path.name for path, text in texts.items() if ELSEWHERE.search(text)] == []


def test_pages_are_light_before_and_after_their_charts_wake(site: Path) -> None:
    """120 KB compressed before interaction, 450 KB with the chart library."""
    library = next((site / "assets" / "javascripts").glob("vega.*.js"))
    for address in ("", "tasks/", "methods/", "backends/", "proofs/"):
        page = site / address / "index.html"
        links = Reader(page.read_text("utf-8")).links
        parts = {
            (page.parent / link).resolve()
            for link in links
            if link.endswith((".css", ".js", ".svg")) and not link.startswith("http")
        }
        before = {page, *parts} - {library.resolve()}
        weight = sum(len(gzip.compress(part.read_bytes())) for part in before)

        assert weight <= 120_000, address
        assert weight + len(gzip.compress(library.read_bytes())) <= 450_000, address


def test_the_social_card_is_a_picture_of_the_size_that_is_promised(site: Path) -> None:
    data = (site / "assets" / "images" / "card.png").read_bytes()

    assert data.startswith(b"\x89PNG")
    assert struct.unpack(">II", data[16:24]) == (1200, 630)
    assert 'property="og:title"' in (site / "tasks" / "index.html").read_text("utf-8")


def test_hostile_text_stays_text(site: Path) -> None:
    plain = Reader(_submission(site, 0))
    hostile = Reader(_submission(site, 3))

    assert hostile.handlers == []
    assert set(hostile.tags) - set(plain.tags) <= {"ul", "li", "strong"}  # it has a flag
    assert hostile.tags.count("script") == plain.tags.count("script")
    assert [
        link for link in hostile.links if "boom()" in link or link.startswith("javascript")
    ] == []
    assert HOSTILE_NOTE in unescape(_submission(site, 3))


def test_a_title_holds_no_sign_that_markup_could_use(site: Path) -> None:
    title = re.findall(r"<title>(.*?)</title>", _submission(site, 3))[0]

    assert not set("<>&\"'{}[]") & set(title)
    assert title.endswith("on Evil onload boom() 12 GB, cuda - Draftmap")


def test_every_page_carries_a_policy_without_eval_or_open_inline_scripts(site: Path) -> None:
    for path in site.rglob("index.html"):
        text = path.read_text("utf-8")
        (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
        (scripts,) = re.findall(r"script-src ([^;]*)", policy)

        assert "unsafe" not in scripts
        assert "default-src 'self'" in policy
        assert len(inline_scripts(text)) <= scripts.count("sha256-")


def test_an_inline_script_that_the_theme_did_not_write_stops_the_build(tmp_path: Path) -> None:
    page = '<meta charset="utf-8"><script>theme()</script>'
    for name in ("404.html", "faq/index.html", "design/0001-format-raw-facts/index.html"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(page, "utf-8")
    (tmp_path / "index.html").write_text(page + "<script>boom()</script>", "utf-8")

    with pytest.raises(UnexpectedScriptError, match=r"index\.html.*boom"):
        write_policy(tmp_path)


def _submission(site: Path, number: int) -> str:
    return (site / "submissions" / submission_name(number) / "index.html").read_text("utf-8")


@pytest.fixture(scope="module")
def leaves(full: duckdb.DuckDBPyConnection) -> dict[str, str]:
    parts = submission_pages(full, Site(bundle="", address="https://x.example/"), most_pages=3)
    return {part.path: part.data.decode() for part in parts if isinstance(part, Asset)}


def test_in_a_large_collection_each_submission_has_a_short_page_at_its_address(
    full: duckdb.DuckDBPyConnection, leaves: dict[str, str]
) -> None:
    names = [name for (name,) in full.execute("select submission from submission").fetchall()]

    assert set(leaves) == {f"submissions/{name}/index.html" for name in names}
    assert [path for path, text in leaves.items() if len(text) > 6000] == []


def test_a_short_page_says_every_verdict_and_flag_without_a_script(
    full: duckdb.DuckDBPyConnection, leaves: dict[str, str]
) -> None:
    for path, text in leaves.items():
        name = path.split("/")[1]
        rows = full.execute(
            "select speedup, interval_low, interval_high from evidence"
            " where submission = $name and task in ('all', 'own') and speedup is not null",
            {"name": name},
        ).fetchall()
        flags = full.execute("select message from flag where submission = $name", {"name": name})
        page = unescape(text)

        for speedup, low, high in rows:
            assert f"<td>{say.times(speedup)}" in page
            assert low is None or say.interval(low, high) in page
        assert [message for (message,) in flags.fetchall() if message not in page] == []
        assert f"data/submissions/{name}.json" in page
        assert "<script" not in text
        assert f'<link rel="canonical" href="https://x.example/submissions/{name}/">' in text


def test_hostile_text_on_a_short_page_stays_text(leaves: dict[str, str]) -> None:
    tags = {tag for text in leaves.values() for tag in Reader(text).tags}

    assert tags <= {
        *("html", "head", "meta", "title", "link", "body", "header", "main", "h1", "h2", "p"),
        *("a", "div", "table", "thead", "tbody", "tr", "th", "td", "dl", "dt", "dd", "code"),
        *("strong", "span"),
    }
    assert [handler for text in leaves.values() for handler in Reader(text).handlers] == []
