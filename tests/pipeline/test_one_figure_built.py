"""Whole sites of random collections print one figure for each device, model and method."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pipeline.site.build import build
from planner.evidence import PairFigure
from schemas.vocabulary import METHODS, say
from tests.pipeline.test_one_figure import Figures, by_hand, collection
from tools import reported

pytestmark = [pytest.mark.builds, pytest.mark.nightly]
WORDS = re.compile(r"<[^>]+>")


def posted(figures: Figures, folder: Path) -> Path:
    """A results folder with published figures, as a maintainer adds them."""
    rows = folder / "rows.json"
    rows.write_text(
        json.dumps(
            [
                {
                    "url": f"https://example.org/{each['person']}/{number}",
                    "who": each["person"],
                    "date": "2026-10-01",
                    "card": each["device_label"],
                    "model": each["target"],
                    "engine": "llama.cpp",
                    "method": each["method"],
                    "depth": each["depth"],
                    "before": each["plain"],
                    "after": each["plain"] and round(each["plain"] * each["speedup"], 4),
                    "speedup": None if each["plain"] else each["speedup"],
                }
                for number, each in enumerate(figures)
            ]
        )
    )
    published = folder / "results" / "published"
    published.mkdir(parents=True)
    assert (
        reported.main(["add", "--checked-by", "mae", "--file", str(rows)], lambda _: "", published)
        == 0
    )
    return published.parent


def lines(page: Path, tag: str) -> list[str]:
    """The texts of a page's elements of one kind, without their tags."""
    text = page.read_text("utf-8")
    found = re.findall(rf"<{tag}\b.*?</{tag}>", text, re.DOTALL)
    return [unescape(WORDS.sub(" ", each)) for each in found]


def answered(site: Path, target: str, device: str) -> list[list[dict[str, Any]]]:
    """The figures in the rows of an answer file for a device, with each of its memory sizes."""
    document = json.loads((site / f"assets/answers/{target}.json").read_bytes())
    figures = json.loads((site / "assets/answers/figures.json").read_bytes())["figures"][target]
    at = document["columns"].index("evidence")
    rows = [row for rows in document["answers"] for row in rows]
    quoted = [[figures[each] for each in row[at]] for row in rows]
    return [each for each in quoted if any(pair["device"] == device for pair in each)]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_built_site_quotes_the_figure_that_is_computed_by_hand(seed: int, tmp_path: Path) -> None:
    figures = [x for x in collection(seed) if not x["differs"] and x["concurrency"] != 8]
    expected = by_hand(figures)

    site = build(results=posted(figures, tmp_path), output=tmp_path / "site")

    shipped = msgspec.json.decode(
        (site / "assets/evidence.json").read_bytes(), type=tuple[PairFigure, ...]
    )
    rows = {(x.device, x.target, x.method): x for x in shipped if not x.quantisation}
    chart = json.loads((site / "assets/charts/methods.json").read_bytes())["datasets"]
    dots = [dot for each in chart.values() for dot in each if "device_label" in dot]
    assert len(rows) == len(dots) == len(expected)
    for (device, target, method), (speedup, people) in expected.items():
        row = rows[device, slug(target), method]
        assert (row.speedup, row.people) == (pytest.approx(speedup), people)
        assert (row.name, row.target_name, METHODS[method].label, people) in {
            (x["device_label"], x["target_label"], x["method_label"], x["people"])
            for x in dots
            if x["speedup"] == pytest.approx(speedup, abs=0.0005)
        }
        quoted = answered(site, slug(target), device)
        assert quoted
        for pairs in quoted:
            (own,) = (x for x in pairs if x["method"] == method)
            assert (own["people"], own["speedup"]) == (people, pytest.approx(speedup, abs=0.0005))
    exported = json.loads((site / "data/pairs.json").read_bytes())
    assert {(x["device"], x["target"]) for x in exported} == {x[:2] for x in rows}
    for pair in exported:
        own = rows[pair["device"], pair["target"], pair["method"]]
        assert (pair["speedup"], pair["people"]) == (own.speedup, own.people)
        for path in (f"devices/{own.device}", f"models/{own.target}"):
            strips = lines(site / path / "index.html", "li")
            assert any(say.times(own.speedup) in line for line in strips)


def slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower())
