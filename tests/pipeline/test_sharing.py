"""What others see of a page: its card, its tags, and data that can be cited."""

import hashlib
import json
import re
import struct
from html import unescape
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from pipeline.data.export import SUMS
from pipeline.site.build import build
from pipeline.site.pages.feeds import ATOM
from pipeline.site.pages.model import Site
from pipeline.site.pictures import cards
from tests.pipeline.tables import campaign, database
from tests.samples import sample, sample_bytes
from tests.sites import known

ADDRESS = "https://maps.example/draft/"
TAG = re.compile(r'<meta (?:property|name)="((?:og|twitter):[a-z:]+)" content="([^"]*)">')
NAMED = Site(bundle="", address=ADDRESS)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of one result that knows its address."""
    folder = tmp_path_factory.mktemp("shared")
    (folder / "results" / "community").mkdir(parents=True)
    data = sample_bytes(sample(tasks=("code",), blocks=1))
    name = f"rig--sample--20261121-{hashlib.sha256(data).hexdigest()[:8]}"
    (folder / "results" / "community" / f"{name}.json").write_bytes(data)
    cache = known(tmp_path_factory.getbasetemp(), folder / "cache")
    return build(results=folder / "results", output=folder / "site", site_url=ADDRESS, cache=cache)


def size_of(png: bytes) -> tuple[int, ...]:
    assert png.startswith(b"\x89PNG")
    return struct.unpack(">II", png[16:24])


@pytest.mark.parametrize("kind", ["devices", "models", "submissions"])
def test_every_device_model_and_result_has_a_card_of_its_own(site: Path, kind: str) -> None:
    pages = [page for page in (site / kind).glob("*/index.html") if "uncounted" not in str(page)]

    assert pages
    for page in pages:
        tags = dict(TAG.findall(page.read_text("utf-8")))
        assert tags["og:image"] == tags["twitter:image"]
        assert tags["og:image"] == f"{ADDRESS}assets/cards/{kind}/{page.parent.name}.png"
        drawn = (site / tags["og:image"].removeprefix(ADDRESS)).read_bytes()
        assert size_of(drawn) == (1200, 630)
        assert tags["og:url"] == f"{ADDRESS}{kind}/{page.parent.name}/"
        assert tags["og:image:alt"].startswith("Card with the best speedup")


def test_other_pages_share_the_map(site: Path) -> None:
    for page in ("", "slower/", "devices/", "submissions/uncounted/"):
        tags = dict(TAG.findall((site / page / "index.html").read_text("utf-8")))
        assert tags["og:image"] == f"{ADDRESS}assets/images/card.png"
        assert tags["twitter:card"] == "summary_large_image"


def test_the_data_set_can_be_identified_and_cited(site: Path) -> None:
    page = (site / "data" / "index.html").read_text("utf-8")
    (block,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', page)
    found = json.loads(unescape(block))

    digest = hashlib.sha256((site / "data" / SUMS).read_bytes()).hexdigest()
    assert found["identifier"] == [f"sha256:{digest}"]
    assert found["citation"].startswith("Draftmap contributors (2026). Draftmap: the open map")
    assert found["citation"].endswith(f"CC BY 4.0. {ADDRESS}")


def test_feeds_link_absolutely(site: Path) -> None:
    for name in ("feed.xml", "builds.xml"):
        root = ET.parse(site / name).getroot()  # noqa: S314 - our own feed
        links = [link.attrib["href"] for link in root.iter(f"{{{ATOM}}}link")]
        assert links
        assert all(link.startswith(ADDRESS) for link in links)


def test_a_card_ranks_by_the_lower_bound_and_escapes_names() -> None:
    connection = database(
        campaign(3.0, within=(0.4, 20.0), task="code", gpu="Card <&>"),
        campaign(1.5, within=(1.4, 1.6), task="math", gpu="Card <&>", contributor="bob"),
    )

    drawn = {asset.path: asset.data for asset in cards(connection, NAMED)}

    assert sum(path.startswith("assets/cards/devices/") for path in drawn) == 1
    assert {size_of(data) for data in drawn.values()} == {(1200, 630)}


def test_without_an_address_there_are_no_cards() -> None:
    assert list(cards(database(campaign(1.5)), Site(bundle=""))) == []
