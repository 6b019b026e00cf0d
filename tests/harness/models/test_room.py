"""A model that does not fit, or whose draft has another vocabulary, is refused early."""

import pytest

from harness.errors import BadInputError
from harness.models import room
from harness.options import number_or_all


def test_a_number_of_layers_is_a_number_or_all() -> None:
    assert number_or_all("-1", option="x", most=9) == number_or_all("All", option="x", most=9) == -1
    assert number_or_all("9", option="x", most=9) == 9
    for wrong in ("most", "-2", "1.5", "10"):
        with pytest.raises(BadInputError, match=r"--x .*: give a whole number from 0 to 9, or all"):
            number_or_all(wrong, option="x", most=9)


def test_a_draft_of_another_vocabulary_is_refused_before_anything_is_fetched() -> None:
    with pytest.raises(BadInputError, match=r"qwen3-0\.6b cannot draft for phi-4"):
        room.require_room(("phi-4", "qwen3-0.6b"), 2048)
