"""Whoever names a file or a model first decides nothing: later honest files stay as they are."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from pipeline.collection.weight_names import names_of
from pipeline.intake.authorship import UNKNOWN, sending_findings
from pipeline.intake.conflicts import NAMED_OTHERWISE, Outline, Withdrawals, claim_findings
from schemas.submission import Submission
from tests.nightly import few
from tests.pipeline.repositories import name_of
from tests.samples import sample

SQUATTED = 200
CARDS = "abcdefghij"
# Letters that look like those of an honest name, and spellings of it.
LOOKS = {"a": "\u0430\u03b1\u0251", "e": "\u0435\u1d07\u212f", "l": "\ua4e1\u04cf\u0131"}
OWN = sample(tasks=("code",), prompts_per_task=2, blocks=2)
OUTLINE = Outline(target=OWN.target, trials=())


def honest(number: int) -> Submission:
    """A result by somebody new with the weights of a model that many people use."""
    digest = f"{number:064x}"
    target = replace(OWN.target, name=f"Sample-{number}-7B", sha256=digest)
    return replace(OWN, contributor=f"person{number}", target=target)


def squatted(number: int, target: str) -> Iterator[tuple[str, Outline]]:
    """The results of three accounts that gave these weights another name before."""
    for account in ("eve", "mal", None):
        model = replace(honest(number).target, name=target, quantisation="Q2_K")
        yield f"{account}-{number}", replace(OUTLINE, contributor=account, target=model)


def spellings(name: str) -> Iterator[str]:
    yield from (name.upper(), name.replace("-", "_"), f"{name} ", name.replace("-", "\u2010"))
    yield from (name.replace(letter, odd, 1) for letter in LOOKS for odd in LOOKS[letter])


@pytest.mark.parametrize("first", few(range(0, SQUATTED, 20), 1))
def test_a_squatted_digest_is_a_question_about_the_honest_file(first: int) -> None:
    numbers = range(first, first + 20)
    there = [each for number in numbers for each in squatted(number, f"Trash-{number}B (broken)")]
    new = {name_of(each): each for each in map(honest, numbers)}

    found = [*claim_findings(new, there, Withdrawals())]

    assert [each.rule for each in found] == [NAMED_OTHERWISE] * len(new)
    assert all("Trash-" in each.message and "Sample-" in each.message for each in found)
    assert (
        names_of([each for _, each in there])
        .keys()
        .isdisjoint(each.target.sha256 for each in new.values())
    )


@pytest.mark.parametrize("first", few(range(0, SQUATTED, 20), 1))
def test_a_squatted_spelling_changes_nothing_for_the_honest_file(first: int) -> None:
    new = {name_of(each): each for each in map(honest, range(first, first + 20))}
    there = [
        (f"{account}-{at}", replace(OUTLINE, contributor=account, target=model))
        for account in ("eve", "mal")
        for each in new.values()
        for at, name in enumerate(spellings(each.target.name))
        for model in [replace(each.target, name=name, sha256=f"{at + 1000:064x}")]
    ]

    assert [*claim_findings(new, there, Withdrawals())] == []
    for path, each in new.items():
        assert [*sending_findings(path, each, UNKNOWN)] == []


def test_a_name_counts_once_a_known_account_or_three_others_gave_it() -> None:
    digest = honest(1).target.sha256
    stated = [each for _, each in squatted(1, "Trash")]
    third = replace(stated[0], contributor="zed")

    assert digest not in names_of(stated)
    assert names_of([*stated, third])[digest] == ("Trash", "Q2_K")
    assert names_of([*stated, third, honest(1)], {"person1"})[digest] == ("Sample-1-7B", "Q4_K_M")
