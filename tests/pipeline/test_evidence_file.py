"""The shipped evidence follows from the results and is small."""

from importlib import resources

import pytest

from answers.evidence import TIERS, Figure, Report
from answers.evidence import reports as shipped
from pipeline.data.database import open_database
from pipeline.site.pages import evidence_file
from schemas.vocabulary import METHODS
from tests.pipeline.tables import RESULTS, campaign, database

MOST_BYTES = 150_000
# The share of devices and models that both have.
FRESH = 0.9
SHIPPED = resources.files("answers").joinpath("evidence.json")


@pytest.fixture(scope="module")
def found() -> tuple[Report, ...]:
    """The reports of all results."""
    return tuple(evidence_file.reports(open_database(RESULTS)))


def test_the_shipped_evidence_is_of_this_form_and_not_old(found: tuple[Report, ...]) -> None:
    """It is renewed occasionally; a result merged since then must not fail this test."""
    ships, known = ({_key(each) for each in some} for some in (shipped(), found))

    assert len(ships & known) >= FRESH * len(known), "renew it: make learned"
    assert len(ships & known) >= FRESH * len(ships), "renew it: make learned"


def _key(report: Report) -> tuple[str, str, str]:
    return report.tier, report.card, report.model


def test_the_evidence_is_small() -> None:
    assert len(SHIPPED.read_bytes()) <= MOST_BYTES


def test_a_cell_is_a_report_of_its_card_and_model() -> None:
    results = database(campaign(1.4, within=(1.2, 1.6), task=None, baseline_tps=50.0))

    (report,) = evidence_file.reports(results)

    assert (report.tier, report.card, report.cards) == ("measured", "rtx 4060", 1)
    assert (report.quantisation, report.people, report.doubts) == ("Q4_K_M", 1, ())
    (figure,) = report.figures
    assert isinstance(figure, Figure)
    assert (figure.method, figure.depth, figure.task) == ("draft-model", 4, "all")
    assert (figure.speedup, figure.before_tps) == (1.4, 50)
    (interval,) = results.sql("select interval_low, interval_high from cell").fetchall()
    assert (figure.low, figure.high) == tuple(float(f"{end:.4g}") for end in interval)
    # One campaign: other people's may differ by more than its own interval.
    assert figure.low < 1.2
    assert figure.high > 1.6


def test_every_report_names_what_the_vocabulary_has(found: tuple[Report, ...]) -> None:
    assert {report.tier for report in found} == set(TIERS)
    assert {figure.method for report in found for figure in report.figures} <= METHODS.keys()
    assert all(figure.speedup > 0 for report in found for figure in report.figures)
    old = [
        report for report in found if report.tier == "published" and (report.day or "9") < "2025"
    ]
    assert all("before 2025" in report.doubts for report in old)
