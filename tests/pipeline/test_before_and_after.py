"""*How it works* shows ten figures of our own files before and after the time ratio."""

import re
from pathlib import Path

import pytest

from estimates.model import Estimate
from estimates.summary import summarize
from schemas import contract
from schemas.submission import Submission
from schemas.vocabulary import say

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "pipeline/site/templates/how-it-works.md.jinja").read_text("utf-8")
ROWS = [
    [cell.strip(" `") for cell in line.strip("|").split("|")]
    for line in re.findall(r"^\| .*`[0-9a-f]{8}`.*\|$", PAGE, re.MULTILINE)
]


def estimate(digest: str, arm: str) -> Estimate:
    (path,) = (ROOT / "results" / "community").glob(f"*-{digest}.json")
    found = contract.read(path.read_bytes(), file=path.name)
    assert isinstance(found, Submission)
    every = (each for each in summarize(found).estimates if each.arm == arm)
    return next(each for each in every if each.task is None)


def test_there_are_ten_rows() -> None:
    assert len(ROWS) == 10


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[1]} {row[2]}")
def test_the_current_figures_equal_the_stored_ones(row: list[str]) -> None:
    found = estimate(row[1], row[2])

    assert row[4] == say.times(found.speedup)
    request = found.whole_request
    assert row[5] == ("whole request not known" if request is None else say.times(request))
