"""Whoever reads the Methodology page computes the same figures from the same files."""

import pytest

from bench.real import EXACT, compare, files

REAL = dict(files(()))


@pytest.mark.parametrize("name", REAL)
def test_every_estimate_follows_from_the_methodology_page_alone(name: str) -> None:
    found = compare(REAL[name])

    assert found.missing == 0
    assert found.differs < EXACT


@pytest.mark.parametrize("name", REAL)
def test_the_published_interval_contains_the_ratio_by_the_wall_clock(name: str) -> None:
    found = compare(REAL[name])

    assert found.contained == found.timed
