"""The shipped evidence follows from the results and is small."""

from importlib import resources

import pytest

from pipeline.site.pages import evidence_file
from planner.evidence import PairFigure
from planner.evidence import pairs as shipped
from schemas.vocabulary import METHODS
from tests.pipeline.tables import campaign, database, real_database

MOST_BYTES = 350_000
# The share of devices and models that both have.
FRESH = 0.9
SHIPPED = resources.files("planner").joinpath("evidence.json")


@pytest.fixture(scope="module")
def found() -> tuple[PairFigure, ...]:
    """The figures of all results."""
    return tuple(evidence_file.pairs(real_database()))


def test_the_shipped_evidence_is_of_this_form_and_not_old(found: tuple[PairFigure, ...]) -> None:
    """It is renewed occasionally; a result merged since then must not fail this test."""
    ships, known = ({(x.tier, x.card, x.model) for x in some} for some in (shipped(), found))

    assert len(ships & known) >= FRESH * len(known), "renew it: make learned"


def test_the_evidence_is_small() -> None:
    assert len(SHIPPED.read_bytes()) <= MOST_BYTES


def test_a_measured_setting_is_a_figure_of_its_card_and_model() -> None:
    results = database(campaign(1.4, within=(1.2, 1.6), task=None, baseline_tps=50.0))

    (one,) = evidence_file.pairs(results)

    assert (one.tier, one.device, one.card, one.cards) == (
        "measured", "rtx-4060-8-gb", "rtx 4060", 1
    )  # fmt: skip
    assert (one.method, one.depth, one.task, one.people) == ("draft-model", 4, "all", 1)
    assert (one.speedup, one.baseline_tps, one.tps) == pytest.approx((1.4, 50.0, 70.0))
    # One campaign: other people's may differ by more than its own interval.
    assert one.low is not None
    assert one.high is not None
    assert one.low < 1.2
    assert one.high > 1.6


def test_every_figure_names_what_the_vocabulary_has(found: tuple[PairFigure, ...]) -> None:
    assert {pair.tier for pair in found} == {"measured", "imported", "published"}
    assert {pair.method for pair in found} <= METHODS.keys()
    assert all(pair.least <= pair.speedup * 1.0000001 for pair in found if pair.low is None)
    assert all(pair.sources for pair in found)
