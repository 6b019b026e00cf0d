"""Files of unknown accounts in random worlds change no statement about others."""

import random
from dataclasses import replace

import pytest

from bench import strangers
from tests.nightly import few


@pytest.mark.parametrize("worlds", few([1, 3], 1))
def test_strangers_change_nothing_in_a_few_worlds(worlds: int) -> None:
    (found,) = strangers.collections(worlds, first=8)

    assert (len(found["accepted"][0]), len(found["three"][0])) == (worlds, 3 * worlds)
    for who in ("accepted", "three"):
        _, before, change = found[who]
        assert {key[0] for key in before} >= {*strangers.KINDS} - {"confirmed", "unknown"}
        assert {*change} <= {"unknown"}


def test_without_known_people_an_unknown_account_changes_the_statements() -> None:
    rng = random.Random(1)  # noqa: S311 - a simulation
    there = [
        strangers.measured(rng, person, "NVIDIA GeForce RTX 4090", 7_000_000_000)
        for person in ("ada", "bob")
    ]
    slow = strangers.ATTACKS["arms slower"](there[0], there[1], rng)
    honest = [*map(strangers.Prepared.of, there)]
    strange = strangers.Prepared.of(replace(slow, contributor="eve"))

    for known, is_changed in ((("ada", "bob"), False), ((), True)):
        before = strangers.state(strangers.tables(honest, known))
        after = strangers.state(strangers.tables([*honest, strange], known))
        assert bool(strangers.changed(before, after)) == is_changed
