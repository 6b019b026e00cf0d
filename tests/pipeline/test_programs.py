"""Files for other programs: one file of speedups, its documented example, and plain text."""

import html
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pipeline.data.export import EXPORTS
from pipeline.site.pages.data import text_file
from pipeline.site.pages.model import Site
from tests.sites import built_site

EXAMPLE = re.compile(r'<code id="speedups-example">(.*?)</code>', re.DOTALL)
KEYS = {
    *("tier", "device", "backend", "target_label", "quantisation", "method", "depth", "task"),
    *("speedup", "interval_low", "interval_high", "verdict", "contributors"),
    *("page", "author", "source_url", "licence"),
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_site(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="module")
def found(site: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((site / "data" / "speedups.json").read_text("utf-8"))
    return value


def test_the_documented_example_runs_and_prints_figures(site: Path) -> None:
    match = EXAMPLE.search((site / "data" / "index.html").read_text("utf-8"))
    assert match is not None

    done = subprocess.run(
        [sys.executable, "-c", html.unescape(match[1])],
        cwd=site / "data",
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 10
    assert re.match(r"\d+\.\d\d \[\d+\.\d\d, \d+\.\d\d\] .*\(measured, ", done.stdout)


def test_speedups_name_their_version_tier_and_owner(found: dict[str, Any]) -> None:
    rows = found["speedups"]

    assert (found["format"], found["version"]) == ("draftmap-speedups", 2)
    assert set(rows[0]) >= KEYS
    assert {row["tier"] for row in rows} == {"measured", "imported", "published"}
    assert all(row["speedup"] > 0 for row in rows)
    assert all(row["author"] and row["licence"] for row in rows if row["tier"] == "measured")
    assert all(row["interval_low"] is None for row in rows if row["tier"] == "published")


def test_every_speedup_has_a_page_on_this_site(site: Path, found: dict[str, Any]) -> None:
    pages = {row["page"] for row in found["speedups"]}

    assert [page for page in sorted(pages) if not (site / page / "index.html").is_file()] == []


def test_the_data_package_says_where_the_rows_are(site: Path) -> None:
    package = json.loads((site / "data" / "datapackage.json").read_text("utf-8"))
    (entry,) = [each for each in package["resources"] if each["path"] == "speedups.json"]

    assert entry["dialect"] == {"property": "speedups"}


def test_the_text_for_language_models_links_every_table(site: Path) -> None:
    text = (site / "llms.txt").read_text("utf-8")

    assert text.startswith("# Draftmap\n\n> The open map")
    linked = re.findall(r"\]\(([^)]+)\)", text)
    assert {f"data/{name}.json" for name in EXPORTS} <= set(linked)
    assert [each for each in linked if not (site / each.partition("#")[0]).exists()] == []
    assert "&amp;" not in text


def test_addresses_are_absolute_if_the_site_has_one() -> None:
    named = Site(bundle="", address="https://maps.example/x/")
    llms = text_file("llms.txt", named, last=None, datasets=(), common=(), groups=()).data.decode()

    assert "](https://maps.example/x/data/speedups.json)" in llms
    assert text_file("robots.txt", named).data.decode() == (
        "User-agent: *\nAllow: /\nSitemap: https://maps.example/x/sitemap.xml\n"
    )
    assert text_file("robots.txt", Site(bundle="")).data.decode() == "User-agent: *\nAllow: /\n"
