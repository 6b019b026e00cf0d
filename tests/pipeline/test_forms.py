"""Random and hostile forms and extreme results move nothing but their own card and model."""

import random
from pathlib import Path

import pytest

from bench import forms
from bench.forms import Sent
from pipeline.cache import Cache
from tests.nightly import few


@pytest.mark.parametrize("seed", few(range(20), 1))
def test_of_random_forms_and_results_those_accepted_build_and_move_no_other(
    tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)  # noqa: S311 - a simulation
    forms.collection(tmp_path, rng)
    sent = [*forms.forms(tmp_path, 12, rng), *forms.results(4, rng)]

    wrong = [*forms.judged(sent, tmp_path, Cache(tmp_path / "cache"))]

    assert wrong == []
    assert 0 < len(sent) < 16


def test_files_of_a_group_share_no_card_and_no_model() -> None:
    sent = [Sent("", b"", card, model) for card, model in ("ax", "ay", "bx", "by")]

    assert [[each[2:] for each in group] for group in forms.groups(sent)] == [
        [("a", "x"), ("b", "y")], [("a", "y"), ("b", "x")],
    ]  # fmt: skip


def test_a_group_with_a_fault_is_divided_until_it_names_the_file() -> None:
    sent = [Sent(name, b"", name, name) for name in "abcdefg"]

    def wrong(some: list[Sent]) -> list[str]:
        return ["moves"] if {"c", "f"} & {each.path for each in some} else []

    found = [each.path for each, _ in forms.faults(sent, wrong)]

    assert found == ["c", "f"]
