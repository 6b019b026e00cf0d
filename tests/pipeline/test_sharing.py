"""Shared pages have preview tags."""

import re
from pathlib import Path

import pytest

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
