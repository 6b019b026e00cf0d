"""Every corrupted result has its flag or rule in the reply to a pull request."""

from datetime import UTC, datetime

import pytest

from estimates.summary import summarize
from pipeline.intake.authorship import Sending, sending_findings
from schemas import contract
from schemas.codec import canonical_bytes
from schemas.submission import Submission
from tests.pipeline.corruptions import (
    IMPORTED,
    MEASURED,
    NOW,
    ON_CPU,
    REPEATED,
    ROWS,
    Change,
    Document,
    changed,
)


def at_the_gate(data: bytes) -> set[str]:
    """The rules and flags in the comment on a pull request with this file."""
    read = contract.read(data)
    if not isinstance(read, Submission):
        return {finding.rule for finding in read}
    sent = sending_findings("name.json", read, Sending(now=NOW))
    return {finding.rule for finding in sent} | {flag.name for flag in summarize(read).flags}


@pytest.mark.parametrize(("document", "change", "name"), [row[1:] for row in ROWS])
def test_the_gate_names_every_corruption(document: Document, change: Change, name: str) -> None:
    assert name in at_the_gate(changed(document, change))


@pytest.mark.parametrize("document", [MEASURED, ON_CPU, IMPORTED, REPEATED])
def test_the_campaigns_that_are_corrupted_are_clean(document: Document) -> None:
    read = contract.read(canonical_bytes(document), now=NOW)

    assert isinstance(read, Submission)
    assert [flag for flag in summarize(read).flags if flag.severity == "serious"] == []


def test_a_campaign_that_ended_within_a_day_from_now_is_not_in_the_future() -> None:
    data = canonical_bytes(MEASURED)  # it ended at ten o'clock on 21 November

    within = contract.read(data, now=datetime(2026, 11, 20, 10, 0, 0, tzinfo=UTC))
    beyond = contract.read(data, now=datetime(2026, 11, 20, 9, 59, 59, tzinfo=UTC))

    assert isinstance(within, Submission)
    assert not isinstance(beyond, Submission)
    assert [finding.rule for finding in beyond] == ["measured-in-future"]
