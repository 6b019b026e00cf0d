"""The output of an arm is compared with that of the baseline, token by token."""

from dataclasses import replace

import pytest

from estimates.model import ExactnessCounts
from estimates.summary import summarize
from estimates.verdicts import classify, count, worst
from tests.estimates.campaigns import failed, trial
from tests.estimates.flag_builders import parted

IDENTICAL = trial(compared_tokens=11)
NEAR_TIE = trial(compared_tokens=11, first_divergence=4, divergence_margin=0.02)
DIVERGED = trial(compared_tokens=11, first_divergence=4, divergence_margin=2.5)


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (IDENTICAL, "identical"),
        (NEAR_TIE, "diverged-near-tie"),
        (DIVERGED, "diverged"),
        (trial(compared_tokens=11, first_divergence=0), "diverged"),
        (trial(), "not-compared"),
        (trial(compared_tokens=0), "not-compared"),
        (failed(), "not-compared"),
    ],
)
def test_an_output_falls_into_one_class(seen: object, expected: str) -> None:
    assert classify(seen) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(("margin", "kind"), [(0.0999, "diverged-near-tie"), (0.1, "diverged")])
def test_two_tokens_within_a_tenth_of_a_logit_are_a_near_tie(margin: float, kind: str) -> None:
    compared = trial(compared_tokens=11, first_divergence=4, divergence_margin=margin)

    assert classify(compared) == kind


def test_the_worst_block_decides() -> None:
    assert worst([IDENTICAL, NEAR_TIE, IDENTICAL], [trial()] * 3) == "diverged-near-tie"
    assert worst([NEAR_TIE, DIVERGED], [trial()] * 2) == "diverged"


def test_blocks_that_were_not_compared_say_nothing() -> None:
    assert worst([trial(), IDENTICAL], [trial()] * 2) == "identical"
    assert worst([trial()], [trial()]) == "not-compared"


@pytest.mark.parametrize(
    ("own", "theirs", "expected"),
    [("a" * 16, "a" * 16, "identical"), ("a" * 16, "b" * 16, "diverged"), ("a" * 16, None, None)],
)
def test_outputs_without_tokens_are_compared_by_their_digests(
    own: str, theirs: str | None, expected: str | None
) -> None:
    pair = trial(output_sha256=own), trial(output_sha256=theirs)

    assert classify(*pair) == (expected or "not-compared")


def test_outputs_that_are_texts_alone_are_compared_by_their_words() -> None:
    base = trial(text_sha256="a" * 16)

    assert classify(trial(text_sha256="a" * 16), base) == "identical"
    assert classify(trial(text_sha256="b" * 16, equal_words=4), base) == "diverged"
    assert classify(trial(text_sha256="a" * 16), trial()) == "not-compared"
    # A text that ends earlier with the same words.
    assert classify(trial(text_sha256="c" * 16), base) == "identical"


def test_classes_are_counted_by_prompt() -> None:
    counts = count(["identical", "identical", "diverged", "not-compared"])

    assert counts == ExactnessCounts(identical=2, diverged_near_tie=0, diverged=1, not_compared=1)


@pytest.mark.parametrize(
    ("early", "late", "severity"),
    [(0, 0, None), (0, 8, "caution"), (1, 0, "caution"), (4, 4, "caution"), (5, 0, "serious")],
)
def test_diverging_texts_are_a_warning_and_serious_if_most_diverge_early(
    early: int, late: int, severity: str | None
) -> None:
    found = [each for each in summarize(parted(early, late)).flags if each.name == "diverged"]

    assert [each.severity for each in found] == ([severity] if severity else [])


def test_sampled_texts_are_not_compared() -> None:
    submission = parted(8, 0)
    drawn = replace(submission.settings, sampling="other", temperature=0.8)

    names = {each.name for each in summarize(replace(submission, settings=drawn)).flags}

    assert "diverged" not in names
