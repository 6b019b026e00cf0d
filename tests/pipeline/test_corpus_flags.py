"""Copies are found, and honest submissions are not flagged."""

import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from pipeline.collection.plausibility import CORPUS_FLAGS, flags_within
from pipeline.collection.plausibility.corpus import Corpus
from pipeline.collection.plausibility.scatter import ScatterIndex, scatter_of
from schemas import contract
from schemas.submission import Submission, Trial
from tests.first_results import FIRST
from tests.pipeline.corpus_examples import (
    HONEST,
    QUIET,
    RAISING,
    VICTIM,
    answers,
    copied,
    corpus_flags,
    scaled,
)
from tests.samples import sample
from tests.sites import PUBLISHED

COMMUNITY = PUBLISHED.parent / "community"
# Contributors explain their own results: no test judges them.
FIRST_RESULTS = {"49ff8e44", "82e61afa", "8642ac2b", "d93c0561", "e1983be8", "f810c741"}


def names(new: Submission, corpus: Sequence[Submission] = HONEST) -> set[str]:
    return {flag.name for flag in corpus_flags(new, corpus)}


def test_every_flag_has_an_example_and_a_near_miss() -> None:
    assert RAISING.keys() == CORPUS_FLAGS.keys()
    assert QUIET.keys() == CORPUS_FLAGS.keys()


@pytest.mark.parametrize("name", CORPUS_FLAGS)
def test_a_flag_is_raised_by_its_example(name: str) -> None:
    raised = [flag for flag in corpus_flags(RAISING[name], HONEST) if flag.name == name]

    assert len(raised) == 1
    assert raised[0].message.endswith(".")
    assert raised[0].remedy.endswith(".")


@pytest.mark.parametrize("name", CORPUS_FLAGS)
def test_a_flag_is_not_raised_by_its_near_miss(name: str) -> None:
    assert name not in names(QUIET[name])


@pytest.mark.parametrize("factor", [0.5, 0.93, 1.07, 3.0])
def test_scaled_times_are_a_copy(factor: float) -> None:
    assert "copied-times" in names(copied(scaled(factor)))


def test_a_part_of_the_times_is_a_copy() -> None:
    rng = random.Random(3)  # noqa: S311 - simulated data
    half = tuple(each for each in VICTIM.trials if rng.random() < 0.5)

    assert "copied-times" in names(copied(half))
    assert "copied-times" in names(copied(VICTIM.trials[:72]))


def test_other_names_of_prompts_and_arms_hide_no_copy() -> None:
    trials = tuple(replace(each, prompt=f"x{each.prompt}", arm="y") for each in VICTIM.trials)

    assert "copied-times" in names(copied(trials))


def test_the_other_submission_is_named() -> None:
    (flag,) = [each for each in corpus_flags(copied(), HONEST) if each.name == "copied-times"]

    assert "Sample-7B Q4_K_M on RTX 4060 8 GB (c3, 2026-11-21)" in flag.message
    assert flag.severity == "serious"


def test_within_a_corpus_the_copy_and_its_original_are_flagged() -> None:
    told = list(flags_within(Corpus.of((*HONEST, copied()))))

    assert [bool(flags) for flags in told] == [False, False, True, False, False, False, True]


def test_the_later_of_two_copies_by_one_account_is_serious() -> None:
    late = replace(
        copied(),
        contributor=VICTIM.contributor,
        measured_from="2026-11-21T11:00:00Z",
        measured_until="2026-11-21T12:00:00Z",
    )
    flagged = [flags for flags in flags_within(Corpus.of((late, *HONEST))) if flags]

    assert [[(flag.name, flag.severity) for flag in flags] for flags in flagged] == [
        [("copied-times", "serious")],
        [("copied-times", "caution")],
    ]


def test_honest_submissions_raise_nothing() -> None:
    honest = [sample(seed=seed, contributor=f"c{seed}") for seed in range(100, 160)]

    assert set(flags_within(Corpus.of(honest))) == {()}


def test_the_first_results_of_the_project_raise_nothing() -> None:
    files = [path for path in FIRST if path.stem[-8:] in FIRST_RESULTS]
    submissions = [contract.read(path.read_bytes()) for path in files]

    assert len(submissions) == len(FIRST_RESULTS)
    assert set(flags_within(Corpus.of([s for s in submissions if isinstance(s, Submission)]))) == {
        ()
    }


@pytest.mark.parametrize(
    ("equal", "rounds", "flagged"),
    [
        # 40 tokens in 8 rounds, or 20, 14 and 10: with equal answers a tenth is enough.
        (24, 0.8, True),
        (24, 0.97, False),
        (6, 0.8, True),
        (5, 0.8, False),
        (5, 0.7, True),
    ],
)
def test_equal_answers_take_equal_rounds(equal: int, rounds: float, *, flagged: bool) -> None:
    assert ("unlike-peers" in names(answers(equal=equal, rounds=rounds))) == flagged


def test_other_weights_or_settings_are_not_compared() -> None:
    made = answers(equal=0)
    target = replace(made.target, sha256="ef" * 32)
    settings = replace(made.settings, max_output_tokens=64)

    assert "unlike-peers" not in names(replace(made, target=target))
    assert "unlike-peers" not in names(replace(made, settings=settings))


def test_a_single_forger_casts_no_doubt_on_others_in_a_build() -> None:
    honest = HONEST[0]
    flags = [
        list(flags_within(Corpus.of((honest, answers(equal=0)), known)))
        for known in (frozenset[str](), frozenset({honest.contributor or ""}))
    ]

    severities = [[[flag.severity for flag in own] for own in found] for found in flags]
    assert severities == [[["caution"], ["caution"]], [[], ["serious"]]]


def test_an_empty_corpus_raises_nothing() -> None:
    assert corpus_flags(VICTIM, ()) == ()


def with_noise(share: float) -> tuple[Trial, ...]:
    """The victim's trials, each time changed by up to a share of it."""
    drawn = random.Random(3)  # noqa: S311 - simulated data
    return tuple(
        replace(
            each, decode_ms=round((each.decode_ms or 0) * (1 + drawn.uniform(-share, share)), 3)
        )
        for each in VICTIM.trials
    )


@pytest.mark.parametrize(("share", "flagged"), [(0.0002, True), (0.002, True), (0.05, False)])
def test_a_copy_with_noise_scatters_like_its_original(share: float, *, flagged: bool) -> None:
    renamed = tuple(replace(each, prompt=f"p-{each.prompt}") for each in with_noise(share))
    own = copied(with_noise(share))
    other = copied(renamed)

    for each in (own, other):
        found = [flag.message for flag in corpus_flags(each, HONEST) if flag.name == "copied-times"]
        assert bool(found) == flagged
        assert all("scatter like those of" in message and "c3" in message for message in found)


def test_the_scatter_of_honest_runs_of_one_machine_does_not_agree() -> None:
    runs = [sample(seed=seed, blocks=3, contributor=f"c{seed}") for seed in range(20, 44)]

    index = ScatterIndex.of([scatter_of(each.trials)["scatter"] for each in runs])

    assert float(np.max(index.rows @ index.rows.T - np.eye(len(runs)))) < 0.5
