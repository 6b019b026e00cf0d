"""The whole site is complete, closed and repeatable, and hostile text changes nothing in it."""

import re
import shutil
from dataclasses import replace
from html import unescape
from pathlib import Path

import duckdb
import pytest
from mkdocs.utils.meta import get_data

from pipeline.site.build import write_source
from pipeline.site.pages.model import Asset, Site, file_path
from pipeline.site.pages.raw_files import raw_files
from pipeline.site.pages.submissions import submission_pages
from pipeline.site.policy import UnexpectedScriptError, inline_scripts, write_policy
from schemas.vocabulary import say
from tests.pipeline.tables import campaign, whole_database
from tests.sites import (
    HOSTILE_NOTE,
    built_site,
    submission_name,
    write_corpus,
)
from tools.links import Reader

pytestmark = [pytest.mark.builds, pytest.mark.long]
ELSEWHERE = re.compile(r"""(?:src|srcset|data)=["'](?:https?:)?//|url\(["']?(?:https?:)?//""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_site(tmp_path_factory.getbasetemp())


@pytest.mark.nightly
def test_the_same_inputs_give_the_same_bytes_also_from_a_cache(site: Path, tmp_path: Path) -> None:
    """Only the input of MkDocs is compared; `make cold` compares whole sites."""
    before, again = site.with_name(f"{site.name}-source"), tmp_path / "again"
    cache = shutil.copytree(site.with_name("cache"), tmp_path / "cache")

    write_source(again, results=write_corpus(tmp_path / "results"), cache=cache)

    names = sorted(path.relative_to(before) for path in before.rglob("*") if path.is_file())
    assert names == sorted(p.relative_to(again) for p in again.rglob("*") if p.is_file())
    assert [n for n in names if (before / n).read_bytes() != (again / n).read_bytes()] == []


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    texts = {p: p.read_text("utf-8") for kind in ("*.html", "*.css") for p in site.rglob(kind)}

    assert [path.name for path, text in texts.items() if ELSEWHERE.search(text)] == []


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


def test_every_page_begins_with_its_heading_and_describes_itself(site: Path) -> None:
    """A description with a colon, unquoted, would be printed above the heading."""
    pages = sorted(site.with_name("site-source").rglob("*.md"))
    assert len(pages) > 20

    for page in pages:
        text, about = get_data(page.read_text("utf-8"))
        assert min(map(len, (about["title"], about["description"]))) > 3, page.name
        assert not text.lstrip().startswith("---"), page.name


def test_a_title_contains_no_character_of_markup(site: Path) -> None:
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
    for name in ("404.html", "how-it-works/index.html"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(page, "utf-8")
    (tmp_path / "index.html").write_text(page + "<script>boom()</script>", "utf-8")

    with pytest.raises(UnexpectedScriptError, match=r"index\.html.*boom"):
        write_policy(tmp_path)


def _submission(site: Path, number: int) -> str:
    return (site / "submissions" / submission_name(number) / "index.html").read_text("utf-8")


@pytest.fixture(scope="module")
def leaves(full: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """The parts of a collection by path, if four submissions count as large."""
    site = Site(
        bundle="",
        address="https://x.example/",
        outside={
            file_path(f"{name}.json"): f"https://code.example/{name}" for name in _later(full)
        },
    )
    parts = submission_pages(full, site, most_full=3)
    return {part.path: part.data.decode() for part in parts if isinstance(part, Asset)}


def _later(full: duckdb.DuckDBPyConnection) -> list[str]:
    rows = full.execute("select submission from submission order by measured_until, submission")
    return [name for (name,) in rows.fetchall()][3:]


def test_a_large_collection_has_a_short_page_for_each_submission(
    full: duckdb.DuckDBPyConnection, leaves: dict[str, str]
) -> None:
    names = [name for (name,) in full.execute("select submission from submission").fetchall()]

    assert set(leaves) == {f"submissions/{name}/index.html" for name in names}
    assert [path for path, text in leaves.items() if len(text) > 6000] == []


def test_a_short_form_says_why_there_is_no_verdict() -> None:
    told = campaign(1.2, verdict="uncertain")
    (estimate,) = told.summary.estimates
    doubted = replace(told.summary, estimates=(replace(estimate, task=None, doubt="few-prompts"),))
    connection = whole_database(replace(told, summary=doubted))

    parts = submission_pages(connection, Site(bundle=""), most_full=0)

    (text,) = [each.data.decode() for each in parts if isinstance(each, Asset)]
    assert "No verdict. Fewer than three prompts were compared." in text


def test_a_short_form_says_every_verdict_and_flag_without_a_script(
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
            assert f"{say.times(speedup)}" in page
            assert low is None or say.interval(low, high) in page
        for (message,) in flags.fetchall():
            assert " ".join(message.split()) in " ".join(page.split())
        assert "<script" not in text
        assert f'<link rel="canonical" href="https://x.example/submissions/{name}/">' in text
        if name in _later(full):
            assert f'href="https://code.example/{name}"' in page
        else:
            assert f"data/submissions/{name}.json" in page


def test_hostile_text_in_a_short_form_stays_text(leaves: dict[str, str]) -> None:
    read = list(map(Reader, leaves.values()))

    assert {tag for page in read for tag in page.tags} <= {
        *("html", "head", "meta", "title", "link", "body", "main", "h1", "h2", "p"),
        *("a", "div", "table", "thead", "tbody", "tr", "th", "td", "dl", "dt", "dd", "code"),
        *("strong", "span"),
    }
    assert [handler for page in read for handler in page.handlers] == []


def test_raw_files_inside_the_repository_are_not_copied(tmp_path: Path) -> None:
    (tmp_path / "community").mkdir()
    for name in ("a.json", "b.json"):
        (tmp_path / "community" / name).write_text("{}")
    site = Site(bundle="", outside={file_path("b.json"): "https://code.example/b"})

    found = [*raw_files(tmp_path, (), site)]

    assert found == [(file_path("a.json"), tmp_path / "community" / "a.json")]
