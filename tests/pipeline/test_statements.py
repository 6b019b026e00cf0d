"""No sentence with a number is contradicted by the table next to it."""

import random
import re

import pytest

from bench.statements import RULES, Said, collection, contradicted, sentences
from tests.nightly import few

COUNTED = {"break_even", "predictions", "whole_map", "finding"}
# Three seeds whose collections have every kind of sentence. `python -m bench.statements` reads 500.
SEEDS = ((5, 8, 9), range(12))


@pytest.fixture(scope="module", params=few(SEEDS, 1))
def said(request: pytest.FixtureRequest) -> list[Said]:
    rngs = [random.Random(seed) for seed in request.param]  # noqa: S311 - simulated results
    return [each for rng in rngs for each in sentences(collection(rng))]


def test_sentences_about_random_collections_agree_with_their_tables(said: list[Said]) -> None:
    assert [each.text for each in said if contradicted(each)] == []
    assert {each.kind for each in said} >= RULES.keys() - {"backends", "losses"}


def test_a_sentence_with_another_number_is_found(said: list[Said]) -> None:
    counted = [each for each in said if each.kind in COUNTED]
    assert {each.kind for each in counted} == COUNTED
    for each in counted:
        number = re.search(r"\d+(?= of|-| pair| prediction)", each.text)
        assert number is not None
        wrong = f"{each.text[: number.start()]}{int(number[0]) + 1}{each.text[number.end() :]}"
        assert contradicted(each._replace(text=wrong)), wrong
    assert contradicted(Said("losses", "3 of 5, without it 1 of 4", []))
    assert contradicted(Said("depths", "Depth 4 is clearly the best.", []))
