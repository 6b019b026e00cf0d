"""Each device, model and method has one figure, on every page and in the data files."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from schemas.vocabulary import say
from tests.sites import built_site

pytestmark = pytest.mark.long
STRIP = re.compile(r'<li class="dm-strip[ "].*?</li>', re.DOTALL)
LINK = re.compile(r'href="(?:\.\./)*(devices|models)/([^/"#]+)/"')
FIGURE = re.compile(r'class="dm-strip__figure"[^>]*>(.*?)<', re.DOTALL)
RATES = re.compile(r'class="dm-strip__rates">(.*?)</span>', re.DOTALL)
SETTING = re.compile(r'class="dm-strip__setting">(.*?)(?: [\d–]+)?</span>', re.DOTALL)  # noqa: RUF001 - as printed
Pair = tuple[str, str, str]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_site(tmp_path_factory.getbasetemp())


def shown(page: Path, **own: str) -> Iterator[tuple[Pair, tuple[str, str]]]:
    """The pairs of a page with the figure and the rates that it prints."""
    for strip in STRIP.findall(page.read_text("utf-8")):
        named = own | dict(LINK.findall(strip))
        figure, rates, method = (x.search(strip) for x in (FIGURE, RATES, SETTING))
        assert figure, strip
        assert method, strip
        pair = (named["devices"], named["models"], method[1])
        yield pair, (figure[1].strip(), rates[1] if rates else "")


@pytest.fixture(scope="module")
def pages(site: Path) -> Mapping[Pair, set[tuple[str, str]]]:
    """Figures of each pair on the home page and on the pages of devices and models."""
    found = defaultdict(set)
    for kind in ("devices", "models"):
        for page in sorted((site / kind).glob("*/index.html")):
            for pair, printed in shown(page, **{kind: page.parent.name}):
                found[pair].add(printed)
    for pair, printed in shown(site / "index.html"):
        found[pair].add(printed)
    return found


def test_a_pair_has_the_same_figure_and_rates_on_every_page(
    pages: Mapping[Pair, set[tuple[str, str]]],
) -> None:
    assert len(pages) > 100
    assert {pair: printed for pair, printed in pages.items() if len(printed) > 1} == {}


def test_the_data_file_has_the_figure_of_the_pages(
    site: Path, pages: Mapping[Pair, set[tuple[str, str]]]
) -> None:
    rows = json.loads((site / "data" / "pairs.json").read_text("utf-8"))
    assert len(rows) == len({(row["device"], row["target"]) for row in rows})

    off = []
    for row in rows:
        if row["tier"] != "published":
            continue  # a clear gain is printed as its lower bound
        ((figure, _),) = pages[row["device"], row["target"], row["method_label"]]
        if figure.removeprefix("≈ ") != say.times(row["speedup"]):  # other things differed, too
            off.append((row["device"], row["target"], row["speedup"], figure))
    assert off == []


def test_before_times_speedup_is_after(site: Path) -> None:
    rows = json.loads((site / "data" / "pairs.json").read_text("utf-8"))
    known = [row for row in rows if row["baseline_tps"] is not None]

    assert len(known) > 50
    for row in known:
        assert row["tps"] == pytest.approx(row["baseline_tps"] * row["speedup"], rel=1e-5)
