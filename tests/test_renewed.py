"""Every night: what ships is of the results on main, or somebody renews it; main stays green."""

from pathlib import Path

import pytest

from bench.predictions.__main__ import inputs_of
from pipeline.data.database import open_database
from pipeline.site.pages import evidence_file
from planner.estimate import typical
from planner.evidence import pairs
from tools import first_screen

pytestmark = pytest.mark.nightly
ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"


def test_the_first_screen_shows_the_results() -> None:
    drawn = first_screen.files(RESULTS, (ROOT / "README.md").read_text("utf-8"))

    stale = [name for name, text in drawn.items() if (ROOT / name).read_text("utf-8") != text]
    assert stale == [], "run: make picture"


def test_the_medians_are_those_of_the_results() -> None:
    assert typical().digest == inputs_of(open_database(RESULTS)).digest, "run: make predictions"


def test_the_evidence_is_that_of_the_results() -> None:
    ships, made = (
        {(each.tier, each.card, each.model) for each in some}
        for some in (pairs(), evidence_file.pairs(open_database(RESULTS)))
    )
    assert ships == made, "run: make learned"
