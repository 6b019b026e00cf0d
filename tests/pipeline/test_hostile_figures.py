"""Is every made-up, copied or embellished result flagged, and none rejected for it?"""

from typing import Any

import pytest

from estimates.summary import summarize
from pipeline.collection.plausibility import corpus_flags
from pipeline.collection.plausibility.corpus import Corpus
from schemas import contract
from schemas.codec import canonical_bytes
from schemas.submission import Submission
from tests.cases.plausibility_cases import HONEST, PLAUSIBILITY
from tests.pipeline import corpus_examples

CORPUS = Corpus.of(corpus_examples.HONEST)


def flags(document: dict[str, Any]) -> set[str]:
    submission = contract.read(canonical_bytes(document))
    assert isinstance(submission, Submission), submission
    raised = (*summarize(submission).flags, *corpus_flags(submission, CORPUS))
    return {flag.name for flag in raised}


@pytest.mark.parametrize(
    ("document", "flag"),
    [(document, flag) for _, document, flag in PLAUSIBILITY],
    ids=[what.replace(" ", "-") for what, *_ in PLAUSIBILITY],
)
def test_it_is_accepted_and_flagged_as_meant(document: dict[str, Any], flag: str) -> None:
    assert flag in flags(document)


def test_the_campaign_that_the_cases_change_raises_none_of_the_flags() -> None:
    assert flags(HONEST) & {flag for *_, flag in PLAUSIBILITY} == set()
