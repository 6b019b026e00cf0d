"""Measurements become correct trials, and every output is compared with the baseline's."""

import hashlib
from dataclasses import replace

import pytest

from harness.campaign.model import PlannedTrial
from harness.run.journal import TrialFact
from harness.run.record import compared, trial_of
from harness.runners.base import Generation, Round
from schemas.submission import Prompt, Trial
from tests.harness.campaigns import campaign

PLANNED = PlannedTrial(order=9, block=1, prompt="code-1", arm="draft-model-n4")


def round_(drafted: int, accepted: int, ms: float) -> Round:
    return Round(
        drafted=drafted,
        accepted=accepted,
        draft_ms=ms / 4,
        verify_ms=ms / 2,
        round_ms=ms,
        cpu_ms=ms * 2,
    )


def generation(*rounds: Round, tokens: tuple[int, ...] = (1, 2, 3)) -> Generation:
    return Generation(
        tokens=tokens,
        margins=None,
        prompt_tokens=10,
        prompt_sha256="0" * 16,
        prompt_ms=None,
        wall_ms=100.0,
        rounds=rounds,
        finish="length",
    )


def test_counters_histograms_and_medians_follow_from_the_rounds() -> None:
    rounds = (round_(4, 4, 40.0), round_(4, 1, 44.0), round_(0, 0, 20.0), round_(4, 0, 80.0))

    trial = trial_of(generation(*rounds), PLANNED, order=3)

    assert (trial.rounds, trial.drafted, trial.accepted) == (4, 12, 5)
    assert trial.drafted_histogram == (1, 0, 0, 0, 3)
    assert trial.accepted_histogram == (2, 1, 0, 0, 1)
    assert trial.round_ms_median == (20.0, 44.0)
    assert trial.round_cpu_ms_median == (40.0, 88.0)
    assert (trial.decode_ms, trial.draft_ms, trial.verify_ms) == (184.0, 46.0, 92.0)
    assert trial.order == 3


def test_prompt_times_of_target_and_draft_are_recorded_separately() -> None:
    read = replace(generation(), prompt_ms=1087.1234, draft_prompt_ms=2522.5678, ttft_ms=3609.6912)

    trial = trial_of(read, PLANNED, order=0)
    kept = trial_of(generation(), PLANNED, order=0)

    assert (trial.prompt_ms, trial.draft_prompt_ms, trial.ttft_ms) == (1087.123, 2522.568, 3609.691)
    assert (kept.prompt_ms, kept.draft_prompt_ms, kept.ttft_ms) == (None, None, None)


def test_the_output_digest_covers_the_token_ids_as_little_endian_integers() -> None:
    trial = trial_of(generation(tokens=(1, 258)), PLANNED, order=0)

    expected = hashlib.sha256(b"\x01\x00\x00\x00\x02\x01\x00\x00").hexdigest()[:16]
    assert trial.output_sha256 == expected


def fact(
    arm: str,
    tokens: tuple[int, ...] | None,
    margins: tuple[float, ...] | None = None,
    text: str | None = None,
) -> TrialFact:
    trial = Trial(arm=arm, prompt="code-1", block=0, order=0, outcome="ok")
    prompt = Prompt(id="code-1", task="code")
    return TrialFact(trial=trial, prompt=prompt, tokens=tokens, margins=margins, text=text)


def test_outputs_are_compared_with_the_first_baseline_even_when_it_ran_later() -> None:
    facts = [
        fact("draft-model-n4", (1, 2, 9)),
        fact("baseline", (1, 2, 3), (4.0, 3.0, 0.0125)),
        fact("baseline", (1, 2, 3), (4.0, 3.0, 0.0125)),
    ]

    draft, first, second = compared(campaign(), facts)

    assert (draft.compared_tokens, draft.first_divergence) == (3, 2)
    assert draft.divergence_margin == 0.0125
    assert first.compared_tokens is None
    assert (second.compared_tokens, second.first_divergence) == (3, None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Loire flows west.", 3),
        ("The Loire flows north of it", 4),
        ("A river", 0),
        ("The Loire", None),
        ("The Loire flows north\nand then west. It", None),
        ("", None),
        (None, None),
    ],
)
def test_texts_without_token_ids_are_compared_word_by_word(
    text: str | None, words: int | None
) -> None:
    baseline = fact("baseline", None, text="The Loire flows north\nand then west.")
    own = fact("draft-model-n4", None, text=text)

    first, second = compared(campaign(), [baseline, own])

    assert (first.equal_words, second.equal_words) == (None, words)


def test_texts_are_not_compared_if_tokens_were() -> None:
    baseline = fact("baseline", (1, 2), text="one")
    own = fact("draft-model-n4", (1, 2), text="other")

    assert compared(campaign(), [baseline, own])[1].equal_words is None


def test_a_text_has_the_digest_of_its_bytes() -> None:
    found = replace(generation(), text="eau", tokens=None, counted_tokens=3)
    trial = trial_of(found, PLANNED, order=0)

    assert trial.text_sha256 == hashlib.sha256(b"eau").hexdigest()[:16]
    # Token ids say more.
    assert trial_of(replace(generation(), text="eau"), PLANNED, order=0).text_sha256 is None


def test_a_failed_trial_is_compared_with_nothing() -> None:
    failed, _ = compared(campaign(), [fact("draft-model-n4", None), fact("baseline", (1,), (1.0,))])

    assert failed.compared_tokens is None
