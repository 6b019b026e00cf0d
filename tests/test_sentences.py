"""`bench.sentences` finds no false sentence in answers, and finds each kind if there is one."""

from dataclasses import replace

import pytest
from msgspec import structs

from bench import sentences
from bench.sentences import Said, ask, false_sentences
from planner.listed import listed_machines

MACHINES = {each.name: each for each in listed_machines(())}


@pytest.fixture
def said() -> Said:
    """An answer that quotes people's figures for the card."""
    found = ask("qwen3.6-27b", "mtp", MACHINES["RTX 3090"])
    assert found is not None
    return found


def changed(said: Said, old: str, new: str) -> Said:
    """The answer with another sentence."""
    assert any(old in line for line in said.text)
    return replace(said, text=tuple(line.replace(old, new) for line in said.text))


def test_some_answers_have_no_false_sentence() -> None:
    assert [*false_sentences(150, seed=3)] == []


@pytest.mark.nightly
def test_many_answers_have_no_false_sentence() -> None:
    assert [*false_sentences(20_000, seed=4)] == []


def test_a_figure_that_is_on_the_map_is_not_absent(said: Said) -> None:
    lack = "predicted from similar settings; the map has no figure of {} this model"

    assert [*sentences.absent(said)] == []
    for claim in ("MTP with", ""):
        text = lack.format(claim).replace("of  ", "of ")
        assert [*sentences.absent(replace(said, text=(text,)))]
    assert not [*sentences.absent(replace(said, text=(lack.format("PARD with"),)))]


def test_a_quoted_figure_is_that_of_the_map(said: Said) -> None:
    assert [*sentences.quoted(said)] == []
    assert [*sentences.quoted(changed(said, "3 people published 1", "3 people published 2"))]


def test_a_speedup_is_the_quotient_of_its_rates(said: Said) -> None:
    assert [*sentences.divided(said)] == []
    assert [*sentences.divided(changed(said, "tokens/s instead of ", "tokens/s instead of 1"))]


def test_the_errors_are_those_of_the_kind(said: Said) -> None:
    assert [*sentences.tested_errors(said)] == []
    assert [*sentences.tested_errors(changed(said, "in the median over ", "in the median over 1"))]
    few = replace(said, text=("Accuracy: too few people tried such a method to tell.",))
    assert [*sentences.tested_errors(few)]


def test_a_sure_verdict_needs_several_people_or_trials(said: Said) -> None:
    first = "Yes: its own head (MTP) at depth 2 gives more."

    assert [*sentences.unfounded(said)] == []
    assert [*sentences.unfounded(replace(said, text=(first,)))] == [first]


def test_no_use_of_the_memory_is_listed_twice(said: Said) -> None:
    twice = (*said.found.options, *said.found.options[:1])
    doubled = structs.replace(said.found, options=twice)

    assert [*sentences.listed_twice(said)] == []
    assert [*sentences.listed_twice(replace(said, found=doubled))] == [twice[0].changes]
