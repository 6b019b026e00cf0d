"""Random and hostile forms move nothing but their own card and model."""

from collections import Counter

import pytest

from bench import forms
from schemas.finding import Finding
from tests.nightly import few


@pytest.mark.parametrize("seed", few(range(20), 1))
def test_of_random_forms_those_accepted_build_and_move_no_other(seed: int) -> None:
    judged = [*forms.judged(12, seed)]

    accepted = [each for each in judged if each is not None]
    wrong: list[Finding] = [one for *_, found in accepted for one in found]
    assert wrong == []
    assert Counter(each is None for each in judged).keys() == {True, False}
