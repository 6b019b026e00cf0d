"""Which voices count, and how much."""

import pytest

from estimates.voices import Voice, counting, weights


def voices(*values: float, known: bool = False) -> list[Voice]:
    return [Voice(person=f"p{at}", value=value, known=known) for at, value in enumerate(values)]


@pytest.mark.parametrize(
    ("values", "count"),
    [((), 0), ((1.0,), 0), ((1.0, 1.0), 0), ((1.0, 1.1, 1.2), 3), ((1.0, 1.1, 3.0), 0),
     ((0.2, 1.0, 1.1, 1.2, 9.0), 3)],
)  # fmt: skip
def test_unknown_voices_count_if_three_of_them_agree(values: tuple[float, ...], count: int) -> None:
    assert len(counting(voices(*values))) == count


def test_one_known_voice_counts_alone() -> None:
    known = Voice(person="mae", value=7.0, known=True)

    assert counting([*voices(1.0, 1.0, 1.0, 1.0), known]) == (known,)


def test_the_people_of_one_source_have_three_voices_together() -> None:
    found = weights({f"p{at}": "a thread" for at in range(12)} | {"ada": "a page"})

    assert found["p0"] == 0.25
    assert found["ada"] == 1
    assert sum(found.values()) == 4
