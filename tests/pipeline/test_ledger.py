"""A result's page shows its earlier prediction, and states if that was wrong."""

from pipeline.site.pages.ledger import Registered, registered


def entry(found: float, low: float | None = 1.0, high: float | None = 1.5) -> Registered:
    return Registered(method="mtp", depth=3, predicted=1.2, low=low, high=high, found=found)


def test_a_figure_outside_its_interval_is_a_miss() -> None:
    assert entry(1.5).hit is True
    assert entry(0.9).hit is False
    assert entry(1.6).hit is False


def test_an_entry_of_the_first_months_has_no_interval_to_miss() -> None:
    assert entry(0.9, low=None, high=None).hit is None


def test_entries_are_found_by_the_result_that_they_were_made_for() -> None:
    found = registered()

    assert sum(map(len, found.values())) > 800
    assert len(found["draftbench"]) > 400
