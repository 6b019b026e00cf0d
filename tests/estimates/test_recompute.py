"""A stranger who reads the Methodology page computes the same figures from the same files."""

import json
from pathlib import Path

import pytest

from estimates.summary import summarize
from schemas import contract
from tests.bench.recompute import figures

COMMUNITY = Path(__file__).parents[2] / "results" / "community"


@pytest.mark.parametrize("path", sorted(COMMUNITY.glob("*.json")), ids=lambda path: path.stem)
def test_every_estimate_follows_from_the_methodology_page_alone(path: Path) -> None:
    found = contract.read(path.read_bytes())
    assert isinstance(found, contract.Submission)
    estimates = {(each.arm, each.task): each for each in summarize(found).estimates}

    recomputed = {(each.arm, each.task): each for each in figures(json.loads(path.read_bytes()))}

    known = {key for key, each in estimates.items() if each.speedup is not None}
    assert set(recomputed) == known
    for key, own in recomputed.items():
        each = estimates[key]
        assert own.speedup == pytest.approx(each.speedup, rel=1e-9)
        assert own.wall == pytest.approx(each.wall_speedup, rel=1e-9)
        if each.interval is None:
            assert (own.low, own.high) == (None, None)
            continue
        assert own.low == pytest.approx(each.interval.low, rel=1e-9)
        assert own.high == pytest.approx(each.interval.high, rel=1e-9)
        assert each.wall_speedup is not None
        assert each.interval.low <= each.wall_speedup <= each.interval.high
