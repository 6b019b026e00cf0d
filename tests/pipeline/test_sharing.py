"""Shared pages have preview tags, and data that can be cited."""

import hashlib
import json
import re
from html import unescape
from pathlib import Path

import pytest

from pipeline.data.export import SUMS
from pipeline.site.pages.data import citation
from pipeline.site.pages.model import Site
from tests.sites import ADDRESS, empty_site

TAG = re.compile(r'<meta (?:property|name)="((?:og|twitter):[a-z:]+)" content="([^"]*)">')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return empty_site(tmp_path_factory.getbasetemp())


@pytest.mark.parametrize("page", ["", "explore/", "slower/"])
def test_a_page_names_its_title_and_address(site: Path, page: str) -> None:
    tags = dict(TAG.findall((site / page / "index.html").read_text("utf-8")))

    assert tags["og:url"] == f"{ADDRESS}{page}"
    assert tags["og:title"] == tags["twitter:title"] != ""


def test_the_data_set_can_be_identified_and_cited(site: Path) -> None:
    page = (site / "data" / "index.html").read_text("utf-8")
    (block,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', page)
    found = json.loads(unescape(block))

    digest = hashlib.sha256((site / "data" / SUMS).read_bytes()).hexdigest()
    assert found["identifier"] == [f"sha256:{digest}"]
    assert found["citation"] == citation(Site(bundle="", address=ADDRESS), None)


def test_a_citation_names_the_year_and_the_day_of_the_newest_result() -> None:
    cited = citation(Site(bundle="", address=ADDRESS), "2026-11-21")

    assert cited.startswith("Draftmap contributors (2026). Draftmap: the open map")
    assert cited.endswith(f" Data as of 2026-11-21, CC BY 4.0. {ADDRESS}")
