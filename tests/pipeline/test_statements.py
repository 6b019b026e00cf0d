"""No sentence with a number is contradicted by the table next to it."""

import random
import re

import pytest

from bench.statements import RULES, Said, collection, contradicted, sentences

COUNTED = {"break_even", "predictions", "whole_map", "finding"}
COLLECTIONS = 12  # `python -m bench.statements` reads 500


@pytest.fixture(scope="module")
def said() -> list[Said]:
    rngs = [random.Random(seed) for seed in range(COLLECTIONS)]  # noqa: S311 - simulated results
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
