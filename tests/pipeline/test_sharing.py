"""What others see of a page: its tags, and data that can be cited."""

import hashlib
import json
import re
import shutil
from html import unescape
from pathlib import Path

import pytest

from pipeline.data.export import SUMS
from pipeline.site.build import build
from tests.samples import sample, sample_bytes
from tests.sites import PUBLISHED, known

ADDRESS = "https://maps.example/draft/"
TAG = re.compile(r'<meta (?:property|name)="((?:og|twitter):[a-z:]+)" content="([^"]*)">')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of one result and the published figures that knows its address."""
    folder = tmp_path_factory.mktemp("shared")
    shutil.copytree(PUBLISHED, folder / "results" / "published")
    (folder / "results" / "community").mkdir()
    data = sample_bytes(sample(tasks=("code",), blocks=1))
    name = f"rig--sample--20261121-{hashlib.sha256(data).hexdigest()[:8]}"
    (folder / "results" / "community" / f"{name}.json").write_bytes(data)
    cache = known(tmp_path_factory.getbasetemp(), folder / "cache")
    return build(results=folder / "results", output=folder / "site", site_url=ADDRESS, cache=cache)


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
    assert found["citation"].startswith("Draftmap contributors (2026). Draftmap: the open map")
    assert found["citation"].endswith(f"CC BY 4.0. {ADDRESS}")
