"""Everything that the site refers to exists, at addresses that last."""

import json
import re
import struct
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from pipeline.site.build import SEARCHED
from tests.sites import ADDRESS, addresses, built_site, empty_site
from tools import evidence, private
from tools.links import broken_links, main, unnamed, unresolved

pytestmark = pytest.mark.long
STORED = Path(__file__).parents[1] / "data" / "addresses.txt"
# Addresses that depend on results. Other pages of the site may be added without a list.
MADE = ("data/", "devices/", "models/", "submissions/")
SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
DIGEST = re.compile(r"-[0-9a-f]{8}(?=[/.])")
# A site with one feed entry, which leads nowhere.
NOTHING = {
    "feed.xml": '<feed xmlns="http://www.w3.org/2005/Atom"><link href="submissions/gone/"/></feed>',
    "builds.xml": "<feed/>",
    "search/search_index.json": '{"docs": []}',
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_site(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="module", name="empty_site")
def without_results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return empty_site(tmp_path_factory.getbasetemp())


def test_a_site_without_any_result_says_so_and_how_to_contribute(empty_site: Path) -> None:
    home = (empty_site / "index.html").read_text("utf-8")

    assert "Be the first" in home
    assert "python -m harness run" in home
    assert 'href="contribute/"' in home


def test_every_page_credits_others_ranks_only_clear_figures_and_shows_no_field_name(
    site: Path,
) -> None:
    assert list(evidence.complaints(site)) == []


def test_uncredited_unclear_and_unnamed_figures_are_found(tmp_path: Path) -> None:
    figure = """<figure class="dm-chart" data-spec="a/tasks.json"><figcaption>The highest is
      1.50×.</figcaption><table><thead><tr><th>Speedup</th><th>Verdict</th></tr></thead>
      <tr><td>1.50</td><td>uncertain</td></tr></table></figure>"""  # noqa: RUF001 - as printed
    page = f'<article><i class="dm-tier--imported" title="interval_low">{figure}</i></article>'
    (tmp_path / "index.html").write_text(page, "utf-8")

    assert [words for _, words in evidence.complaints(tmp_path)] == [
        "a figure that other people published has no credit",
        "a label contains a field name: interval_low",
        "tasks lacks its SVG, CSV or link",
        "ranks a figure without a clear verdict: The highest is 1.50×.",  # noqa: RUF001 - as printed
    ]


@pytest.mark.parametrize("which", ["site", "empty_site"])
def test_links_anchors_feeds_and_files_for_scripts_exist(
    which: str, request: pytest.FixtureRequest
) -> None:
    site: Path = request.getfixturevalue(which)

    assert broken_links(site) == []
    assert unnamed(site) == []


def test_broken_links_are_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in NOTHING.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "index.html").write_text(
        '<a href="gone/">1</a><a href="#gone">2</a><a href="#here" id="here">3</a>'
        '<a href="http://example.org/">4</a><label for="gone">5</label>'
    )

    assert broken_links(tmp_path) == [
        ("index.html", "gone/"),
        ("index.html", "#gone"),
        ("index.html", "http://example.org/"),
        ("feed.xml", "submissions/gone/"),
    ]
    assert unnamed(tmp_path) == [("index.html", "gone")]
    assert main(tmp_path) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{place} refers to {link}, which does not exist"
        for place, link in (
            ("index.html", "gone/"),
            ("index.html", "#gone"),
            ("feed.xml", "submissions/gone/"),
            ("index.html", "gone"),
        )
    ]


def test_a_folder_may_be_named_by_a_relative_path(
    empty_site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(empty_site.parent)

    assert main(Path(empty_site.name)) == 0


def test_an_address_that_was_published_and_is_gone_is_named(
    empty_site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = tmp_path / "addresses.txt"
    stored.write_text("how-it-works/\ndata/cells.json\nsubmissions/gone/\ndata\n")

    assert main(empty_site, stored) == 1
    assert capsys.readouterr().out.splitlines() == [
        "submissions/gone/ was an address of the site and no longer exists",
        "data was an address of the site and no longer exists",
    ]


@pytest.mark.results
def test_the_list_of_published_addresses_has_every_result() -> None:
    """`make links` compares it with the site of the repository's results."""
    stored = set((STORED.parent / "addresses-of-results.txt").read_text("utf-8").split())
    results = STORED.parents[2] / "results" / "community"
    names = {path.stem for path in results.glob("*.json")}

    assert len(stored) > 150
    assert {"explore/", "data/trials.json", "feed.xml", "devices/apple-m3-max/"} <= stored
    assert {n for n in names if f"submissions/{n}/" in stored} == {
        n for n in names if f"data/submissions/{n}.json" in stored
    }


def test_the_sitemap_has_every_page_and_no_other(empty_site: Path) -> None:
    listed = ET.parse(empty_site / "sitemap.xml").iter(f"{SITEMAP}loc")  # noqa: S314 - our own file
    assert sorted(each.text or "" for each in listed) == sorted(
        ADDRESS + each for each in addresses(empty_site)
    )


def test_no_clock_dates_a_site_but_its_newest_figure(empty_site: Path) -> None:
    text = (empty_site / "sitemap.xml").read_text("utf-8")
    (packed,) = struct.unpack("<I", (empty_site / "sitemap.xml.gz").read_bytes()[4:8])

    assert set(re.findall("<lastmod>(.*?)</lastmod>", text)) == {"1980-01-01"}  # without a figure
    assert datetime.fromtimestamp(packed, UTC) == datetime(1980, 1, 1, tzinfo=UTC)


def test_addresses_never_change(site: Path) -> None:
    """Published addresses never move. A new address must be added to the list."""
    stored = set(STORED.read_text("utf-8").split())
    found = {DIGEST.sub("-DIGEST", each) for each in _addresses(site)}

    assert stored - found == set(), "these addresses are gone"
    assert {each for each in found - stored if each.startswith(MADE)} == set(), "add these to it"


def test_search_terms_lead_to_existing_pages_and_sections(site: Path) -> None:
    index = json.loads((site / "search/search_index.json").read_text("utf-8"))
    listed = {entry["location"]: entry["tags"] for entry in index["docs"]}

    assert SEARCHED.keys() - listed.keys() == set()
    assert "Strix Halo" in listed["devices/radeon-8060s/"]
    assert listed["contribute/#2-look-at-it"] == []


def _addresses(site: Path) -> list[str]:
    """Pages and files that people may link to, without notes and assets."""
    files = [
        path.relative_to(site).as_posix()
        for pattern in ("*.xml", "*.txt", "data/**/*")
        for path in site.glob(pattern)
        if path.is_file() and path.name != "index.html"
    ]
    hostile = re.compile("boom|onmouseover|example-invalid|wwww|rig--")
    return [each for each in (*addresses(site), *files) if each and not hostile.search(each)]


def test_a_secret_on_a_page_is_found_and_personal_data_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    token = "ghp_" + "a1B2" * 9
    (tmp_path / "feed.xml").write_text("<id>urn:uuid:0b2f1f3e-1111-4222-8333-123456789abc</id>")

    assert private.main(tmp_path) == 0

    (tmp_path / "index.html").write_text(f"<p>by <b>{token[:9]}</b>{token[9:]}</p>", "utf-8")
    (tmp_path / "submissions.json").write_text(
        f'{{"main": "<p>{token} ada@example.org</p>"}}', "utf-8"
    )

    assert private.main(tmp_path) == 1
    assert capsys.readouterr().out.splitlines() == [
        "index.html: a GitHub token",
        "submissions.json: a GitHub token",
        "submissions.json: an e-mail address (perhaps)",
    ]


def test_a_device_whose_results_were_all_withdrawn_need_not_have_a_page(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    rows = "device,target,counted\nold-card,big-7b,false\nnew-card,big-7b,true\n"
    (tmp_path / "data" / "estimates.csv").write_text(rows, "utf-8")
    (tmp_path / "models" / "big-7b").mkdir(parents=True)
    (tmp_path / "models" / "big-7b" / "index.html").touch()
    promised = ["devices/old-card/", "models/big-7b/"]

    assert unresolved(tmp_path, [*promised, "devices/new-card/"]) == ["devices/new-card/"]
