"""Files of strangers in random worlds change nothing that is said of others."""

import random
from dataclasses import replace

from bench import strangers


def test_strangers_change_nothing_in_a_few_worlds() -> None:
    (one, three), (refused,) = (list(strangers.worlds(1, first=seed)) for seed in (8, 1))

    assert (one[0], three[0], refused[0]) == ("accepted", "three", "refused")
    for _, _, before, change in (one, three):
        assert {key[0] for key in before} >= {"standing", "name", "arm", "sign", "headline"}
        assert {*change} <= {"unknown"}


def test_where_nobody_is_known_a_stranger_changes_what_is_said() -> None:
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
